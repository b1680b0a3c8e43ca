#include "cli/run_shard.hpp"

#include <spdlog/spdlog.h>

#include <cstdio>
#include <stdexcept>
#include <utility>

#include "app/output_settings.hpp"
#include "app/packed_shard.hpp"
#include "app/shard_files.hpp"
#include "app/shard_ledger.hpp"
#include "app/shard_settings.hpp"
#include "io/manifest.hpp"
#include "text/format_count.hpp"
#include "text/group_digits.hpp"
#include "text/printable.hpp"

namespace eckart::cli {
namespace {

app::ShardId id_of(const app::ShardInputs& shard) {
  return {.manifest = shard.manifest.id, .index = shard.index};
}

/// Where the process that runs a shard writes its throughput log, unless the settings say so.
void use_shard_throughput_log(settings::Settings& settings, const std::filesystem::path& output,
                              const app::ShardInputs& shard) {
  if (settings.telemetry.throughput_log.empty())
    settings.telemetry.throughput_log =
        app::shard_file_of_process(output, id_of(shard), app::kShardThroughputLogSuffix);
}

/// Makes the ledger of the shard that of the settings; null if there is none.
std::unique_ptr<app::ShardLedger> use_shard_ledger(settings::Settings& settings,
                                                   const std::filesystem::path& output,
                                                   const app::ShardInputs& shard) {
  if (!settings.output.writes_files() || settings.ledger.is_none()) return nullptr;
  if (app::read_packed_record(output, id_of(shard)))
    throw FatalError(ExitCode::usage, "the outputs of this shard are in an archive in " +
                                          text::printable(output.native()) +
                                          " already: nothing was done. Use --pack tar, or another "
                                          "output folder");
  if (!settings.ledger.is_auto())
    throw FatalError(
        ExitCode::usage,
        "a ledger file cannot be combined with --shard: each shard has a ledger of its "
        "own in the output folder");
  auto ledger = std::make_unique<app::ShardLedger>(output, id_of(shard));
  settings.ledger = ledger->choice();
  use_shard_throughput_log(settings, output, shard);
  return ledger;
}

/// Returns the exit code if the shard is finished already.
std::optional<ExitCode> finished_code(const app::PackedShard& packed, const RunArgs& args) {
  const std::optional<app::ShardCounts> counts = packed.finished();
  if (!counts) return std::nullopt;
  if (args.quiet == 0)
    std::fprintf(stderr, "%s is finished: %s done, %s failed%s\n",
                 text::printable(packed.archive().native()).c_str(),
                 text::format_count(counts->done, "image").c_str(),
                 text::group_digits(counts->failed).c_str(),
                 counts->failed > 0 ? "; to try these again, make it anew with --reprocess" : "");
  if (counts->failed > 0 && counts->done == 0) return ExitCode::nothing_readable;
  return counts->failed > 0 ? ExitCode::some_failed : ExitCode::ok;
}

}  // namespace

void add_shard_option(CLI::App& run, RunArgs& args) {
  run.add_option("--shard", args.shard,
                 "The inputs of shard I of N of a manifest that eckart shard made; other processes "
                 "may process the other shards to the same output folder at the same time")
      ->type_name("MANIFEST:I/N")
      ->group("Input");
}

std::optional<app::ShardInputs> read_shard(const RunArgs& args) {
  if (args.shard.empty()) return std::nullopt;
  if (!args.inputs.empty() || !args.list().empty())
    throw FatalError(ExitCode::usage,
                     "--shard cannot be combined with other inputs: the manifest has them");
  io::ShardName name;
  try {
    name = io::parse_shard_name(args.shard);
  } catch (const std::invalid_argument& error) {
    throw FatalError(ExitCode::usage, std::string("--shard: ") + error.what());
  }
  app::ShardInputs shard{
      .file = name.manifest, .manifest = io::read_manifest(name.manifest), .index = name.index};
  if (const std::size_t count = shard.manifest.shards.size(); std::int64_t(count) != name.count)
    throw FatalError(ExitCode::usage, "--shard " + args.shard + ": the manifest has " +
                                          text::format_count(std::int64_t(count), "shard"));
  return shard;
}

void check_pack(const RunArgs& args, const settings::Settings& settings) {
  const auto refuse = [](const std::string& what, const std::string& why) {
    throw FatalError(ExitCode::usage, what + " cannot be combined with output.pack tar: " + why);
  };
  if (settings.output.pack == settings::OutputPack::none) return;
  if (args.shard.empty())
    throw FatalError(ExitCode::usage,
                     "output.pack tar needs --shard, since each shard gets an archive; eckart pack "
                     "makes archives of a folder");
  if (!settings.output.writes_files()) refuse("output.format none", "nothing is written");
  if (!settings.ledger.is_auto()) refuse("ledger.file", "each shard has records of its own");
  if (!args.report.empty()) refuse("--report", "the report is beside the archive");
  if (args.dry_run) refuse("--dry-run", "the whole archive is made");
}

std::string shard_mismatch_text(const std::filesystem::path& output,
                                const settings::Settings& settings) {
  if (!settings.output.writes_files()) return {};
  const std::string difference =
      app::shard_settings_difference(output, app::output_settings(settings));
  if (difference.empty()) return {};
  return text::printable(output.native()) +
         " has shards that were processed with other settings (" + difference + ")";
}

void check_shard_mismatch(const std::filesystem::path& output, const settings::Settings& settings,
                          bool reprocess) {
  const std::string mismatch = shard_mismatch_text(output, settings);
  if (mismatch.empty()) return;
  if (!reprocess)
    throw FatalError(ExitCode::usage, mismatch + ": nothing was done. " + kShardMismatchAdvice);
  spdlog::warn("{}: each of them keeps its outputs until it is reprocessed, too", mismatch);
}

ShardRun prepare_shard(const RunArgs& args, const app::ShardInputs& shard,
                       const std::filesystem::path& output, settings::Settings& settings) {
  ShardRun run{.output = output, .is_packed = settings.output.pack != settings::OutputPack::none};
  if (!run.is_packed) {
    run.results = use_shard_ledger(settings, output, shard);
    return run;
  }
  auto packed = std::make_unique<app::PackedShard>(output, shard, settings, args.reprocesses());
  run.finished_code = finished_code(*packed, args);
  if (run.finished_code) return run;
  settings = packed->run_settings();
  use_shard_throughput_log(settings, output, shard);
  run.output = packed->folder();
  run.results = std::move(packed);
  return run;
}

void begin_shard(app::ShardResults& results, const app::ShardInputs& shard,
                 const std::filesystem::path& output) {
  app::publish_manifest(output, shard.manifest);
  results.begin();
}

}  // namespace eckart::cli
