#include "bench/child_process.hpp"

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

constexpr const char* kWaitVariable = "ECKART_TEST_WAITS";  // and says so first, on this descriptor

/// This program is what ChildProcess runs: before its main(), it does what the test wants.
[[gnu::constructor]] void wait_if_requested() {
  const char* descriptor = std::getenv(kWaitVariable);
  if (!descriptor) return;
  ::alarm(60);  // where nobody ends it
  if (::write(std::atoi(descriptor), "x", 1) == 1) ::pause();
  ::_exit(1);
}

const std::vector<std::string> kDoesNothing = {"--gtest_list_tests"};

/// While it lives, programs that are run wait; they hold its pipe.
class BlockedChildren {
 public:
  BlockedChildren() {
    if (::pipe(pipe_) != 0) std::abort();
    ::setenv(kWaitVariable, std::to_string(pipe_[1]).c_str(), 1);
  }
  ~BlockedChildren() {
    ::unsetenv(kWaitVariable);
    ::close(pipe_[0]);
  }
  void wait_for_child() {
    char byte = 0;
    EXPECT_EQ(::read(pipe_[0], &byte, 1), 1);
    ::close(pipe_[1]);
  }
  /// None waits any more.
  bool has_ended() {
    constexpr int kTimeoutMs = 20'000;
    pollfd end{.fd = pipe_[0], .events = POLLIN, .revents = 0};
    return ::poll(&end, 1, kTimeoutMs) == 1 && (end.revents & POLLHUP);
  }

 private:
  int pipe_[2];
};

TEST(ChildProcess, returns_output_and_exit_code) {
  ChildProcess child;
  const ChildProcess::ExitResult ended = child.run(kDoesNothing, cpus_by_core(), "/dev/null");
  EXPECT_EQ(ended.code, 0);
  EXPECT_NE(ended.output.find("returns_output_and_exit_code"), std::string::npos);
  EXPECT_EQ(child.run(kDoesNothing, {}, "/dev/null").code, 127) << "on no CPU";
}

bool should_interrupt_child = false;

/// Ctrl-C goes to both processes: the new one has it while it is not yet the program.
TEST(ChildProcess, ends_by_a_signal_received_before_exec) {
  ::pthread_atfork(nullptr, nullptr, [] {
    if (should_interrupt_child) ::kill(::getpid(), SIGINT);
  });
  const auto before = ::signal(SIGINT, [](int) {});
  should_interrupt_child = true;
  ChildProcess child;
  EXPECT_EQ(child.run(kDoesNothing, cpus_by_core(), "/dev/null").code, 128 + SIGINT);
  should_interrupt_child = false;
  ::signal(SIGINT, before);
}

TEST(ChildProcess, runs_nothing_after_stop) {
  BlockedChildren waiting;
  ChildProcess child;
  std::thread stops([&] {
    waiting.wait_for_child();
    child.stop();
  });
  EXPECT_EQ(child.run(kDoesNothing, cpus_by_core(), "/dev/null").code, 128 + SIGTERM);
  stops.join();
  EXPECT_TRUE(waiting.has_ended());
  EXPECT_EQ(child.run(kDoesNothing, cpus_by_core(), "/dev/null").code, 128 + SIGTERM);
}

TEST(ChildProcess, ends_with_its_parent) {
  BlockedChildren waiting;
  const pid_t runs = ::fork();
  if (runs == 0) {
    ChildProcess().run(kDoesNothing, cpus_by_core(), "/dev/null");
    ::_exit(0);
  }
  waiting.wait_for_child();
  ::kill(runs, SIGKILL);
  ::waitpid(runs, nullptr, 0);
  EXPECT_TRUE(waiting.has_ended());
}

}  // namespace
}  // namespace eckart::bench
