#include "machine/running_threads.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <future>
#include <thread>

namespace eckart::machine {
namespace {

/// A thread that waits for work in a loop until it is told to sleep, and sleeps then.
class IdleThread {
 public:
  IdleThread() { begins_.get_future().wait(); }
  ~IdleThread() {
    sleep();
    ends_.set_value();
    thread_.join();
  }
  void sleep() { loops_ = false; }

 private:
  std::promise<void> begins_, ends_;
  std::atomic<bool> loops_ = true;
  std::thread thread_{[this] {
    begins_.set_value();
    while (loops_) {
    }
    ends_.get_future().wait();
  }};
};

TEST(RunningThreads, counts_those_that_wait_in_a_loop_but_not_those_that_sleep) {
  IdleThread thread;
  EXPECT_EQ(running_threads(::getpid()), 1);
  thread.sleep();
  while (running_threads(::getpid()) != 0) std::this_thread::yield();
}

TEST(RunningThreads, are_none_without_a_process) { EXPECT_EQ(running_threads(-1), 0); }

TEST(WaitUntilIdle, ends_though_a_thread_keeps_running) {
  IdleThread thread;
  wait_until_idle(std::array{::getpid()});
  EXPECT_EQ(running_threads(::getpid()), 1);
}

}  // namespace
}  // namespace eckart::machine
