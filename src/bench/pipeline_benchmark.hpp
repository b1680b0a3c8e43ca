#pragma once

#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "bench/child_process.hpp"
#include "bench/pipeline_result.hpp"
#include "settings/settings.hpp"

namespace eckart::bench {

/// Measures the stages of a run alone, the run, and the file system without other work.
struct PipelineBenchmarkOptions {
  std::vector<std::filesystem::path> inputs;  ///< folders and files
  settings::Settings settings;                ///< of the runs; they write files
  std::vector<std::string> run_options;       ///< of `eckart run`, that make these settings
  int cores = 0;                              ///< 0: all
  double seconds = 5;                         ///< of a whole run, without its start
  int repeats = 3;                            ///< rounds
  std::filesystem::path scratch;              ///< an empty folder
  std::function<void(const std::string&)> print_line;  ///< prints a line about the progress
};

/// A round measures all rows by turns. The calling thread and all threads that it starts later use
/// only `cores` cores. Throws FatalError if a run fails, if there are no images or fewer cores;
/// EnvironmentError. Returns early if `stop` is requested, which must also stop `child`; the result
/// then has the rounds that are complete.
PipelineResult measure_pipeline(const PipelineBenchmarkOptions& options, ChildProcess& child,
                                const std::stop_token& stop);

}  // namespace eckart::bench
