#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "bench/child_process.hpp"

namespace eckart::bench {

/// Measures how the rate grows with the number of cores, by whole runs of this program.
struct ScalingOptions {
  std::vector<std::filesystem::path> inputs;  ///< folders and files; used repeatedly, through links
  std::vector<int> cores;                     ///< ascending; empty: 1, 2, 4 ... all
  double seconds = 5;                         ///< target duration of a run on all cores
  int repeats = 3;                            ///< rounds at least, if `max_seconds` allows
  double max_seconds = 900;                   ///< no round begins that would end later than this
  /// Returns which rates need more rounds; empty if none does. May be null: none does.
  std::function<std::string()> missing = {};
  std::filesystem::path scratch;                       ///< an empty folder for temporary files
  std::vector<std::string> run_options;                ///< further options of `eckart run`
  std::vector<std::string> log_options;                ///< further options of measured runs
  std::function<void(const std::string&)> print_line;  ///< prints a line of the report
};

/// After warm-up runs, makes rounds until the rates are known or the time is over. A round has, for
/// each number of cores, a run over the same images (Amdahl) and one over a number of images
/// proportional to the cores (Gustafson). Throws FatalError if a run fails or there are no images.
/// Returns early if `child` is stopped.
void measure_scaling(const ScalingOptions& options, ChildProcess& child);

/// 1, 2, 4 ... and `max_cores`.
std::vector<int> default_core_counts(int max_cores);

}  // namespace eckart::bench
