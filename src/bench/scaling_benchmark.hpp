#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "bench/child_process.hpp"

namespace eckart::bench {

/// How the rate grows with the cores, measured by whole runs of this program.
struct ScalingOptions {
  std::vector<std::filesystem::path> inputs;  ///< folders and files; used again and again, as links
  std::vector<int> cores;                     ///< ascending; empty: 1, 2, 4 ... all
  double seconds = 5;                         ///< that a run with all the cores is to take
  int repeats = 3;
  std::filesystem::path scratch;                       ///< an empty folder for what runs make
  std::vector<std::string> run_options;                ///< further ones of `eckart run`
  std::vector<std::string> log_options;                ///< and of those runs that are measured
  std::function<void(const std::string&)> print_line;  ///< a line for people
};

/// Of each number of cores `repeats` runs over the same images (as Amdahl's law has it), and as
/// many over images in proportion to the cores (Gustafson's), after one that warms up. Throws
/// FatalError where a run fails or there are no images; returns early when `child` is stopped.
void measure_scaling(const ScalingOptions& options, ChildProcess& child);

/// 1, 2, 4 ... and `all`.
std::vector<int> default_core_counts(int all);

}  // namespace eckart::bench
