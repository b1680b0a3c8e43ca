#include "machine/running_threads.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <thread>

namespace eckart::machine {
namespace {

/// A thread that waits for work in a loop for some time, and sleeps then.
class IdleThread {
 public:
  explicit IdleThread(std::chrono::milliseconds loop_time) : loop_time_(loop_time) {
    begins_.get_future().wait();
  }
  ~IdleThread() {
    loops_ = false;
    ends_.set_value();
    thread_.join();
  }

 private:
  const std::chrono::milliseconds loop_time_;
  std::promise<void> begins_, ends_;
  std::atomic<bool> loops_ = true;
  std::thread thread_{[this] {
    const auto end = std::chrono::steady_clock::now() + loop_time_;
    begins_.set_value();
    while (loops_ && std::chrono::steady_clock::now() < end) {
    }
    ends_.get_future().wait();
  }};
};

constexpr std::chrono::hours kLong(1);

TEST(RunningThreads, counts_those_that_wait_in_a_loop) {
  const IdleThread thread(kLong);
  EXPECT_EQ(running_threads(::getpid()), 1);
}

TEST(RunningThreads, counts_none_without_a_process) { EXPECT_EQ(running_threads(-1), 0); }

TEST(WaitUntilIdle, waits_until_the_threads_sleep) {
  const IdleThread thread(std::chrono::milliseconds(20));
  wait_until_idle(std::array{::getpid()}, kLong);
  EXPECT_EQ(running_threads(::getpid()), 0);
}

TEST(WaitUntilIdle, ends_though_a_thread_keeps_running) {
  const IdleThread thread(kLong);
  wait_until_idle(std::array{::getpid()}, std::chrono::milliseconds(1));
  EXPECT_EQ(running_threads(::getpid()), 1);
}

}  // namespace
}  // namespace eckart::machine
