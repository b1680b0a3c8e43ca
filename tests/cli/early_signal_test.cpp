// Signals at any moment of the first 300 ms of a run and of a service: none has the system's
// default effect, which is to end the process by a signal, half-way.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <random>
#include <set>
#include <sstream>

#include "tests/cli/watch_fixture.hpp"

namespace eckart::test {
namespace {

using std::chrono::microseconds;

class EarlySignal : public WatchTest {
 protected:
  static constexpr int kTries = kIsSanitized ? 4 : 10;  // of each signal

  void SetUp() override {
    WatchTest::SetUp();
    write_png("in/a.png");
    configure();
  }

  /// Waits until the process executes the program's own code, rather than the loader's, before
  /// which nobody can have a handler: its handlers, in /proc, are no longer the system's.
  static bool has_handlers(pid_t pid) {
    std::ifstream status("/proc/" + std::to_string(pid) + "/status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("SigCgt:"))
        return (std::stoull(line.substr(7), nullptr, 16) >> (SIGTERM - 1) & 1) != 0;
    }
    return false;
  }

  microseconds random_time() {
    return microseconds(std::uniform_int_distribution<>(0, 300'000)(random_));
  }
  std::mt19937 random_{7};
};

TEST_F(EarlySignal, ends_run_with_128_plus_signal_or_after_its_end) {
  for (const int signal : {SIGHUP, SIGINT, SIGTERM}) {
    for (int i = 0; i < kTries; ++i) {
      EckartProcess program({"run", "in", "-o", "out", "-q", "--overwrite", "--backend", "cpu"},
                            {.folder = at(".")});
      wait_for([&] { return has_handlers(program.pid()); });
      usleep(unsigned(random_time().count()));
      program.signal(signal);
      const int code = program.wait().code;
      EXPECT_TRUE(code == 0 || code == 128 + signal) << "try " << i << ": " << code;
    }
  }
}

TEST_F(EarlySignal, usr1_never_ends_the_process) {
  for (int i = 0; i < kTries; ++i) {
    EckartProcess program({"run", "in", "-o", "out", "-q", "--overwrite", "--backend", "cpu"},
                          {.folder = at(".")});
    wait_for([&] { return has_handlers(program.pid()); });
    usleep(unsigned(random_time().count()));
    program.signal(SIGUSR1);
    EXPECT_EQ(program.wait().code, 0) << "try " << i;
  }
}

TEST_F(EarlySignal, ends_service_with_0) {
  for (const int signal : {SIGINT, SIGTERM}) {
    for (int i = 0; i < kTries; ++i) {
      EckartProcess program({"watch", "--config", "eckart.yaml", "-q"}, {.folder = at(".")});
      wait_for([&] { return has_handlers(program.pid()); });
      usleep(unsigned(random_time().count()));
      program.signal(signal);
      EXPECT_EQ(program.wait().code, 0) << "try " << i;
    }
  }
}

TEST_F(EarlySignal, hup_and_usr1_keep_service_running) {
  for (const int signal : {SIGHUP, SIGUSR1}) {
    for (int i = 0; i < kTries / 2; ++i) {
      start();
      wait_for([&] { return has_handlers(service_->pid()); });
      usleep(unsigned(random_time().count()));
      service_->signal(signal);
      wait_for_log("ready: ");
      EXPECT_EQ(stop().code, 0) << "try " << i;
    }
  }
}

TEST_F(EarlySignal, early_usr1_is_answered_later) {
  start();
  wait_for([&] { return has_handlers(service_->pid()); });
  service_->signal(SIGUSR1);
  wait_for_log("rate      ");
  EXPECT_EQ(stop().code, 0);
}

/// As nohup does.
TEST_F(EarlySignal, hup_ignored_by_the_caller_stays_ignored) {
  EckartProcess::Options shell;
  shell.folder = at(".");
  shell.program = "/bin/sh";
  const std::string run =
      "trap '' HUP; exec " ECKART_PROGRAM " run in -o out -q --overwrite --backend cpu";
  for (int i = 0; i < kTries; ++i) {
    EckartProcess program({"-c", run}, shell);
    wait_for([&] { return has_handlers(program.pid()); });
    usleep(unsigned(random_time().count()));
    program.signal(SIGHUP);
    EXPECT_EQ(program.wait().code, 0) << "try " << i;
  }
}

TEST_F(EarlySignal, has_default_action_in_commands_without_work) {
  EckartProcess program({"top", at("nothing.sock").string()},
                        {.folder = at("."), .on_terminal = true});
  wait_for([&] { return has_handlers(program.pid()); });
  program.signal(SIGTERM);
  const int code = program.wait().code;
  EXPECT_TRUE(code == -SIGTERM || code == 69) << code;
}

}  // namespace
}  // namespace eckart::test
