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

constexpr const char* kWaitVariable = "ECKART_TEST_WAITS";  // a descriptor

/// ChildProcess runs this test program. If kWaitVariable is set, it writes a byte to that
/// descriptor before main() and waits.
[[gnu::constructor]] void wait_if_requested() {
  const char* descriptor = std::getenv(kWaitVariable);
  if (!descriptor) return;
  ::alarm(60);  // if the test does not end it
  if (::write(std::atoi(descriptor), "x", 1) == 1) ::pause();
  ::_exit(1);
}

const std::vector<std::string> kListTests = {"--gtest_list_tests"};

/// While this object exists, children wait. They hold the write end of its pipe.
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
  /// Whether all children have ended.
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
  const ChildProcess::ExitResult result = child.run(kListTests, cpus_by_core(), "/dev/null");
  EXPECT_EQ(result.code, 0);
  EXPECT_NE(result.output.find("returns_output_and_exit_code"), std::string::npos);
  EXPECT_EQ(child.run(kListTests, {}, "/dev/null").code, 127) << "on no CPU";
}

TEST(ChildProcess, returns_the_exit_code_when_sigchld_was_ignored) {
  const auto before = ::signal(SIGCHLD, SIG_IGN);
  EXPECT_EQ(ChildProcess().run(kListTests, {}, "/dev/null").code, 127);
  ::signal(SIGCHLD, before);
}

bool should_interrupt_child = false;

/// Ctrl-C goes to both processes. The child receives it before it calls exec.
TEST(ChildProcess, ends_by_a_signal_received_before_exec) {
  ::pthread_atfork(nullptr, nullptr, [] {
    if (should_interrupt_child) ::kill(::getpid(), SIGINT);
  });
  const auto before = ::signal(SIGINT, [](int) {});
  should_interrupt_child = true;
  ChildProcess child;
  EXPECT_EQ(child.run(kListTests, cpus_by_core(), "/dev/null").code, 128 + SIGINT);
  should_interrupt_child = false;
  ::signal(SIGINT, before);
}

TEST(ChildProcess, runs_nothing_after_stop) {
  BlockedChildren waiting;
  ChildProcess child;
  std::thread stopper([&] {
    waiting.wait_for_child();
    child.stop();
  });
  EXPECT_EQ(child.run(kListTests, cpus_by_core(), "/dev/null").code, 128 + SIGTERM);
  stopper.join();
  EXPECT_TRUE(waiting.has_ended());
  EXPECT_EQ(child.run(kListTests, cpus_by_core(), "/dev/null").code, 128 + SIGTERM);
}

TEST(ChildProcess, ends_with_its_parent) {
  BlockedChildren waiting;
  const pid_t parent = ::fork();
  if (parent == 0) {
    ChildProcess().run(kListTests, cpus_by_core(), "/dev/null");
    ::_exit(0);
  }
  waiting.wait_for_child();
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  EXPECT_TRUE(waiting.has_ended());
}

}  // namespace
}  // namespace eckart::bench
