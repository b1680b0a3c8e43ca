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

/// A process of the real `eckart`; killed if it is still there at the end.
class EckartProcess {
 public:
  struct Options {
    std::filesystem::path folder = {};  ///< where it runs, and where its output is kept
    std::string in = {};                ///< its standard input
    bool as_nobody = false;             ///< drops root's permission to read everything
    bool closed_streams = false;        ///< starts without stdin, stdout and stderr
    bool on_terminal = false;           ///< its stdout and stderr; see shown()
    std::filesystem::path program = ECKART_PROGRAM;
    std::size_t address_space_mb = 0;  ///< all that it may have; 0: no limit
    int open_files = 0;                ///< most at a time, hard limit; 0: as here
    std::string fault = {};            ///< ECKART_FAULT of faults.cpp; empty: none
    std::map<std::string, std::string> environment = {};  ///< beside what is here
  };
  EckartProcess(const std::vector<std::string>& arguments, const Options& options);
  ~EckartProcess();
  EckartProcess(const EckartProcess&) = delete;
  EckartProcess& operator=(const EckartProcess&) = delete;

  void signal(int number);
  pid_t pid() const { return pid_; }
  /// Whether wait() would return at once.
  bool has_ended() const;
  /// What all of its threads have spent on cores so far.
  std::chrono::nanoseconds cpu_time() const;
  /// What it has said on stderr so far.
  std::string err() const;
  /// What has come to its terminal so far.
  std::string terminal_output();
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
