#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/configuration.hpp"
#include "core/error.hpp"
#include "settings/settings.hpp"

namespace eckart::cli {

// The names of the experiments.
inline constexpr const char* kBenchKernels = "kernels";
inline constexpr const char* kBenchMatmul = "matmul";
inline constexpr const char* kBenchTransfer = "transfer";
inline constexpr const char* kBenchBandwidth = "bandwidth";
inline constexpr const char* kBenchStreams = "streams";
inline constexpr const char* kBenchSolvers = "solvers";
inline constexpr const char* kBenchCrossover = "crossover";
inline constexpr const char* kBenchRoofline = "roofline";
inline constexpr const char* kBenchAll = "all";
inline constexpr const char* kBenchPipeline = "pipeline";
inline constexpr const char* kBenchScaling = "scaling";

/// The arguments of `eckart bench EXPERIMENT`.
struct BenchArgs {
  std::string experiment;
  std::vector<std::filesystem::path> inputs;
  std::filesystem::path output;  ///< empty: the temporary folder
  std::filesystem::path log = "scaling.jsonl";
  ConfigArgs config;
  std::optional<std::string> rank;
  std::vector<int> cores;  ///< ascending
  double seconds = 5, max_seconds = 900;
  int repeats = 3;
  bool is_quick = false, with_peers = false;
  bool json = false, html = false;
};

/// Returns the settings of the configuration and the flags. Throws as read_configuration().
settings::Settings bench_settings(const BenchArgs& args);
/// Returns the options of `eckart run` that make these settings.
std::vector<std::string> bench_run_options(const BenchArgs& args);
/// Prints a line about the progress to stderr.
void print_bench_line(const std::string& line);

// The experiments. They throw as their commands do.
ExitCode bench_scaling(const BenchArgs& args);
ExitCode bench_pipeline(const BenchArgs& args);
/// The experiments on the CPU and a GPU alone, without inputs.
ExitCode bench_devices(const BenchArgs& args);

}  // namespace eckart::cli
