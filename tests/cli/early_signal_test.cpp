// Sends signals at any time from the start of the program's own code to the end of a run, or until
// a service is ready. No signal may have the system's default action, which kills the process.
#include <signal.h>
#include <sys/stat.h>

#include <chrono>
#include <fstream>
#include <random>

#include "tests/cli/watch_fixture.hpp"

namespace eckart::test {
namespace {

using std::chrono::nanoseconds;

class EarlySignalTest : public WatchTest {
 protected:
  static constexpr int kTries = kIsSanitized ? 4 : 10;  // for each signal
  const Names kRun{"run", "in", "-o", "out", "-q", "--overwrite", "--backend", "cpu"};

  void SetUp() override {
    WatchTest::SetUp();
    write_png("in/a.png");
    configure();
  }

  /// Waits until the process runs the program's own code instead of the loader's; earlier, no
  /// handler can exist. /proc shows when handlers are installed. A short command may have ended
  /// before that is seen.
  static void wait_for_handlers(const EckartProcess& process) {
    wait_for([&] {
      if (process.has_ended()) return true;
      std::ifstream status("/proc/" + std::to_string(process.pid()) + "/status");
      for (std::string line; std::getline(status, line);) {
        if (line.starts_with("SigCgt:"))
          return (std::stoull(line.substr(7), nullptr, 16) >> (SIGTERM - 1) & 1) != 0;
      }
      return false;
    });
  }

  /// Returns the CPU time from the first handler to the end of a run.
  nanoseconds time_of_run() const {
    EckartProcess program(kRun, {.folder = at(".")});
    wait_for_handlers(program);
    const nanoseconds begin = program.cpu_time();
    wait_for([&] { return program.has_ended(); });
    return program.cpu_time() - begin;
  }
  /// Returns the CPU time from the first handler until a service is ready.
  nanoseconds time_of_start() {
    start();
    wait_for_handlers(*service_);
    const nanoseconds begin = service_->cpu_time();
    wait_for_log("ready: ");
    const nanoseconds time = service_->cpu_time() - begin;
    EXPECT_EQ(stop().code, 0);
    return time;
  }
  /// Waits until the process has used a random part of `time`, or has reached the end of that
  /// phase. Uses CPU time, because the progress after a given wall time differs between machines.
  void wait_for_random_moment(const EckartProcess& process, nanoseconds time) {
    wait_for_handlers(process);
    const double part = std::uniform_real_distribution<>(0, 1)(random_);
    const nanoseconds moment = process.cpu_time() + nanoseconds(std::int64_t(part * time.count()));
    wait_for([&] {
      return process.cpu_time() >= moment || process.has_ended() ||
             process.err().find("ready: ") != std::string::npos;
    });
  }

 private:
  std::mt19937 random_{7};
};

TEST_F(EarlySignalTest, ends_the_run_with_128_plus_signal_unless_it_has_ended) {
  const nanoseconds time = time_of_run();
  for (const int signal : {SIGHUP, SIGINT, SIGTERM}) {
    for (int i = 0; i < kTries; ++i) {
      EckartProcess program(kRun, {.folder = at(".")});
      wait_for_random_moment(program, time);
      program.signal(signal);
      const int code = program.wait().code;
      EXPECT_TRUE(code == 0 || code == 128 + signal) << "try " << i << ": " << code;
    }
  }
}

TEST_F(EarlySignalTest, says_that_the_work_did_not_begin) {
  ASSERT_EQ(::mkfifo(at("settings").c_str(), 0600), 0);  // to read it, the process waits
  for (const int signal : {SIGHUP, SIGINT, SIGTERM}) {
    EckartProcess program({"run", "in", "-o", "out", "--config", "settings"}, {.folder = at(".")});
    wait_for_handlers(program);
    program.signal(signal);
    const ProcessResult result = program.wait();
    EXPECT_EQ(result.code, 128 + signal);
    EXPECT_EQ(result.err, "eckart: stopped by a signal before the work began\n");
  }
}

TEST_F(EarlySignalTest, does_not_end_the_process_if_usr1) {
  const nanoseconds time = time_of_run();
  for (int i = 0; i < kTries; ++i) {
    EckartProcess program(kRun, {.folder = at(".")});
    wait_for_random_moment(program, time);
    program.signal(SIGUSR1);
    EXPECT_EQ(program.wait().code, 0) << "try " << i;
  }
}

TEST_F(EarlySignalTest, ends_the_service_with_0) {
  const nanoseconds time = time_of_start();
  for (const int signal : {SIGINT, SIGTERM}) {
    for (int i = 0; i < kTries; ++i) {
      start();
      wait_for_random_moment(*service_, time);
      service_->signal(signal);
      EXPECT_EQ(service_->wait().code, 0) << "try " << i;
    }
  }
}

TEST_F(EarlySignalTest, keeps_the_service_running_if_hup_or_usr1) {
  const nanoseconds time = time_of_start();
  for (const int signal : {SIGHUP, SIGUSR1}) {
    for (int i = 0; i < kTries / 2; ++i) {
      start();
      wait_for_random_moment(*service_, time);
      service_->signal(signal);
      wait_for_log("ready: ");
      if (signal == SIGUSR1) wait_for_log("rate      ");  // the status, after an early signal too
      EXPECT_EQ(stop().code, 0) << "try " << i;
    }
  }
}

/// As nohup ignores it.
TEST_F(EarlySignalTest, remains_ignored_if_the_caller_ignores_hup) {
  EckartProcess::Options shell;
  shell.folder = at(".");
  shell.program = "/bin/sh";
  const std::string run =
      "trap '' HUP; exec " ECKART_PROGRAM " run in -o out -q --overwrite --backend cpu";
  const nanoseconds time = time_of_run();
  for (int i = 0; i < kTries; ++i) {
    EckartProcess program({"-c", run}, shell);
    wait_for_random_moment(program, time);
    program.signal(SIGHUP);
    EXPECT_EQ(program.wait().code, 0) << "try " << i;
  }
}

TEST_F(EarlySignalTest, has_default_action_in_commands_without_work) {
  EckartProcess program({"top", at("nothing.sock").string()},
                        {.folder = at("."), .on_terminal = true});
  wait_for_handlers(program);
  program.signal(SIGTERM);
  const int code = program.wait().code;
  EXPECT_TRUE(code == -SIGTERM || code == 69) << code;
}

}  // namespace
}  // namespace eckart::test
