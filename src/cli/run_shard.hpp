#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "app/input_sources.hpp"
#include "app/shard_results.hpp"
#include "cli/run_args.hpp"
#include "core/error.hpp"
#include "settings/settings.hpp"

// What `eckart run --shard` does besides a run.
namespace eckart::cli {

void add_shard_option(CLI::App& run, RunArgs& args);

/// Returns the shard of --shard. Throws FatalError.
std::optional<app::ShardInputs> read_shard(const RunArgs& args);

/// Throws FatalError if the outputs of this command cannot go to an archive.
void check_pack(const RunArgs& args, const settings::Settings& settings);

/// Returns how the settings differ from those of the shards of the output folder; empty if they do
/// not.
std::string shard_mismatch_text(const std::filesystem::path& output,
                                const settings::Settings& settings);
inline constexpr const char* kShardMismatchAdvice =
    "Use --reprocess to process shards with these settings from now on, or another output folder";
/// Throws FatalError if the shards of the output folder have other settings and may not get these.
void check_shard_mismatch(const std::filesystem::path& output, const settings::Settings& settings,
                          bool reprocess);

/// How a shard is run.
struct ShardRun {
  std::filesystem::path output{};                ///< of the run
  std::unique_ptr<app::ShardResults> results{};  ///< null if nothing is recorded
  bool is_packed = false;
  std::optional<ExitCode> finished_code{};  ///< if the shard is finished already
};
/// `output`: absolute. Changes the settings to those of the run. Throws FatalError.
ShardRun prepare_shard(const RunArgs& args, const app::ShardInputs& shard,
                       const std::filesystem::path& output, settings::Settings& settings);

/// Call it before the run. Throws FatalError, EnvironmentError.
void begin_shard(app::ShardResults& results, const app::ShardInputs& shard,
                 const std::filesystem::path& output);

}  // namespace eckart::cli
