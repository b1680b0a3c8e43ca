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
  static constexpr int kTries = kSanitized ? 4 : 10;  // of each signal

  void SetUp() override {
    WatchTest::SetUp();
    write_png("in/a.png");
    configure();
  }

  /// Waits until the process executes the program's own code, rather than the loader's, before
  /// which nobody can have a handler: its handlers, in /proc, are no longer the system's.
  static bool has_handlers(pid_t process) {
    std::ifstream status("/proc/" + std::to_string(process) + "/status");
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

TEST_F(EarlySignal, ends_a_run_with_128_and_the_signal_or_comes_too_late) {
  for (const int signal : {SIGHUP, SIGINT, SIGTERM}) {
    for (int i = 0; i < kTries; ++i) {
      Program program({"run", "in", "-o", "out", "-q", "--overwrite", "--backend", "cpu"},
                      {.folder = at(".")});
      wait_for([&] { return has_handlers(program.process()); });
      usleep(unsigned(random_time().count()));
      program.signal(signal);
      const int code = program.wait().code;
      EXPECT_TRUE(code == 0 || code == 128 + signal) << "try " << i << ": " << code;
    }
  }
}

TEST_F(EarlySignal, usr1_never_ends_anything) {
  for (int i = 0; i < kTries; ++i) {
    Program program({"run", "in", "-o", "out", "-q", "--overwrite", "--backend", "cpu"},
                    {.folder = at(".")});
    wait_for([&] { return has_handlers(program.process()); });
    usleep(unsigned(random_time().count()));
    program.signal(SIGUSR1);
    EXPECT_EQ(program.wait().code, 0) << "try " << i;
  }
}

TEST_F(EarlySignal, ends_a_service_well) {
  for (const int signal : {SIGINT, SIGTERM}) {
    for (int i = 0; i < kTries; ++i) {
      Program program({"watch", "--config", "eckart.yaml", "-q"}, {.folder = at(".")});
      wait_for([&] { return has_handlers(program.process()); });
      usleep(unsigned(random_time().count()));
      program.signal(signal);
      EXPECT_EQ(program.wait().code, 0) << "try " << i;
    }
  }
}

TEST_F(EarlySignal, hup_and_usr1_leave_a_service_at_work) {
  for (const int signal : {SIGHUP, SIGUSR1}) {
    for (int i = 0; i < kTries / 2; ++i) {
      start();
      wait_for([&] { return has_handlers(service_->process()); });
      usleep(unsigned(random_time().count()));
      service_->signal(signal);
      wait_for_log("ready: ");
      EXPECT_EQ(stop().code, 0) << "try " << i;
    }
  }
}

TEST_F(EarlySignal, a_usr1_that_comes_early_is_answered_later) {
  start();
  wait_for([&] { return has_handlers(service_->process()); });
  service_->signal(SIGUSR1);
  wait_for_log("rate      ");
  EXPECT_EQ(stop().code, 0);
}

/// As nohup does.
TEST_F(EarlySignal, a_hup_that_the_caller_ignores_stays_ignored) {
  Program::Options shell;
  shell.folder = at(".");
  shell.program = "/bin/sh";
  const std::string run =
      "trap '' HUP; exec " ECKART_PROGRAM " run in -o out -q --overwrite --backend cpu";
  for (int i = 0; i < kTries; ++i) {
    Program program({"-c", run}, shell);
    wait_for([&] { return has_handlers(program.process()); });
    usleep(unsigned(random_time().count()));
    program.signal(SIGHUP);
    EXPECT_EQ(program.wait().code, 0) << "try " << i;
  }
}

TEST_F(EarlySignal, a_command_with_nothing_to_finish_ends_as_the_system_has_it) {
  Program program({"top", at("nothing.sock").string()}, {.folder = at("."), .on_terminal = true});
  wait_for([&] { return has_handlers(program.process()); });
  program.signal(SIGTERM);
  const int code = program.wait().code;
  EXPECT_TRUE(code == -SIGTERM || code == 69) << code;
}

}  // namespace
}  // namespace eckart::test
