#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace eckart::test {

struct ProcessResult {
  int code = 0;  ///< exit code, or minus the signal that killed it
  std::string out, err;
};

/// A process of the real `eckart`. The destructor kills it if it is still running.
class EckartProcess {
 public:
  struct Options {
    std::filesystem::path folder = {};  ///< working folder, also for its captured output
    std::string in = {};                ///< standard input, or typed on the terminal
    bool as_nobody = false;             ///< drops root's permission to read everything
    bool closed_streams = false;        ///< starts without stdin, stdout and stderr
    bool on_terminal = false;  ///< connects all streams to a terminal; see terminal_output()
    std::filesystem::path program = ECKART_PROGRAM;
    std::size_t address_space_mb = 0;  ///< limit; 0: none
    int open_files = 0;                ///< hard limit; 0: unchanged
    std::string fault = {};            ///< ECKART_FAULT of fault_injection.cpp; empty: none
    std::map<std::string, std::string> environment = {};  ///< added to the current environment
  };
  EckartProcess(const std::vector<std::string>& arguments, const Options& options);
  ~EckartProcess();
  EckartProcess(const EckartProcess&) = delete;
  EckartProcess& operator=(const EckartProcess&) = delete;

  void signal(int number);
  pid_t pid() const { return pid_; }
  /// Returns whether the process has ended: wait() does not block.
  bool has_ended() const;
  /// Returns the CPU time of all threads so far.
  std::chrono::nanoseconds cpu_time() const;
  /// Returns the output on stderr so far.
  std::string err() const;
  /// Returns the output on its terminal so far.
  std::string terminal_output();
  /// Waits for its end. Throws std::runtime_error if that takes longer than kWaitDeadline.
  ProcessResult wait();

 private:
  std::filesystem::path stream_file(const char* stream) const;

  const std::filesystem::path folder_;
  const std::string name_;
  pid_t pid_ = 0;
  int terminal_ = -1;
  std::string terminal_output_;
};

}  // namespace eckart::test
