#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bench/child_process.hpp"

namespace eckart::bench {

/// The summary of a run of this program.
struct RunSummary {
  std::int64_t done = 0;
  double wall_s = 0;
  double images_per_s = 0;  ///< with the start of the program
  std::int64_t input_bytes = 0, output_bytes = 0, outputs = 0;
  std::int64_t decoded_on_gpu = 0, encoded_on_gpu = 0;  ///< images and outputs
};

/// Returns the options of a run that appends to the throughput log `log` every `interval_s`
/// seconds.
std::vector<std::string> throughput_log_options(const std::filesystem::path& log,
                                                double interval_s);

/// Starts `eckart run` as a child process, and prints its errors.
class MeasuredRun {
 public:
  /// `original_path` replaces the path of a file in an error; see RepeatedInputs.
  MeasuredRun(ChildProcess& child, std::filesystem::path stderr_file,
              std::function<std::string(std::string)> original_path,
              std::function<void(const std::string&)> print_line);

  /// Runs `eckart run` with these arguments, --json and -qq on these CPUs. Prints each error once,
  /// although a failing file fails in each run. Returns nothing if the child was stopped. Throws
  /// FatalError if the run failed.
  std::optional<RunSummary> run(std::vector<std::string> arguments, const std::vector<int>& cpus);

 private:
  void print_errors();

  ChildProcess& child_;
  const std::filesystem::path stderr_file_;
  const std::function<std::string(std::string)> original_path_;
  const std::function<void(const std::string&)> print_line_;
  std::set<std::string> printed_errors_;  // without their time
};

}  // namespace eckart::bench
