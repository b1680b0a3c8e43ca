#include "bench/child.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <thread>

#include "bench/cpu_order.hpp"

namespace eckart::bench {
namespace {

constexpr const char* kWaits = "ECKART_TEST_WAITS";  // and says so first, on this descriptor

/// This program is what Child runs: before its main(), it does what the test wants.
[[gnu::constructor]] void wait_if_told() {
  const char* descriptor = std::getenv(kWaits);
  if (!descriptor) return;
  ::alarm(60);  // where nobody ends it
  if (::write(std::atoi(descriptor), "x", 1) == 1) ::pause();
  ::_exit(1);
}

const std::vector<std::string> kDoesNothing = {"--gtest_list_tests"};

/// While it lives, programs that are run wait; they hold its pipe.
class Waiting {
 public:
  Waiting() {
    if (::pipe(pipe_) != 0) std::abort();
    ::setenv(kWaits, std::to_string(pipe_[1]).c_str(), 1);
  }
  ~Waiting() {
    ::unsetenv(kWaits);
    ::close(pipe_[0]);
  }
  void await_one() {
    char byte = 0;
    EXPECT_EQ(::read(pipe_[0], &byte, 1), 1);
    ::close(pipe_[1]);
  }
  /// None waits any more.
  bool has_ended() {
    constexpr int kLong_ms = 20'000;
    pollfd end{.fd = pipe_[0], .events = POLLIN, .revents = 0};
    return ::poll(&end, 1, kLong_ms) == 1 && (end.revents & POLLHUP);
  }

 private:
  int pipe_[2];
};

TEST(Child, gives_output_and_exit_code) {
  Child child;
  const Child::Ended ended = child.run(kDoesNothing, cpus_by_core(), "/dev/null");
  EXPECT_EQ(ended.code, 0);
  EXPECT_NE(ended.out.find("gives_output_and_exit_code"), std::string::npos);
  EXPECT_EQ(child.run(kDoesNothing, {}, "/dev/null").code, 127) << "on no CPU";
}

bool interrupt_what_is_forked = false;

/// Ctrl-C goes to both processes: the new one has it while it is not yet the program.
TEST(Child, ends_by_a_signal_that_comes_before_it_is_the_program) {
  ::pthread_atfork(nullptr, nullptr, [] {
    if (interrupt_what_is_forked) ::kill(::getpid(), SIGINT);
  });
  const auto before = ::signal(SIGINT, [](int) {});
  interrupt_what_is_forked = true;
  Child child;
  EXPECT_EQ(child.run(kDoesNothing, cpus_by_core(), "/dev/null").code, 128 + SIGINT);
  interrupt_what_is_forked = false;
  ::signal(SIGINT, before);
}

TEST(Child, is_stopped_and_runs_nothing_after_it) {
  Waiting waiting;
  Child child;
  std::thread stops([&] {
    waiting.await_one();
    child.stop();
  });
  EXPECT_EQ(child.run(kDoesNothing, cpus_by_core(), "/dev/null").code, 128 + SIGTERM);
  stops.join();
  EXPECT_TRUE(waiting.has_ended());
  EXPECT_EQ(child.run(kDoesNothing, cpus_by_core(), "/dev/null").code, 128 + SIGTERM);
}

TEST(Child, ends_with_who_runs_it) {
  Waiting waiting;
  const pid_t runs = ::fork();
  if (runs == 0) {
    Child().run(kDoesNothing, cpus_by_core(), "/dev/null");
    ::_exit(0);
  }
  waiting.await_one();
  ::kill(runs, SIGKILL);
  ::waitpid(runs, nullptr, 0);
  EXPECT_TRUE(waiting.has_ended());
}

}  // namespace
}  // namespace eckart::bench
