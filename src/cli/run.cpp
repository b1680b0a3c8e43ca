#include "app/run.hpp"

#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/input_sources.hpp"
#include "app/settings_mismatch.hpp"
#include "app/shard_results.hpp"
#include "cli/commands.hpp"
#include "cli/configuration.hpp"
#include "cli/descriptor_limit.hpp"
#include "cli/dry_run.hpp"
#include "cli/execute_run.hpp"
#include "cli/existing_path.hpp"
#include "cli/help.hpp"
#include "cli/input_options.hpp"
#include "cli/processing_options.hpp"
#include "cli/restart_process.hpp"
#include "cli/run_args.hpp"
#include "cli/run_shard.hpp"
#include "core/enum_names.hpp"
#include "core/factors.hpp"
#include "core/instant.hpp"
#include "core/positive_number.hpp"
#include "logging/log.hpp"
#include "logging/progress.hpp"
#include "reports/run_report_text.hpp"
#include "settings/value_types.hpp"
#include "settings/watches.hpp"
#include "text/printable.hpp"

namespace eckart::cli {
namespace {

/// How a value is given that was typed like an input, after a space; empty if it is none.
std::string hint_of(const RunArgs& args, const std::string& input) {
  std::string hint;
  if (args.rank && input.find_first_not_of("0123456789,") == input.npos)
    hint += "; several ranks are one value: --rank " + *args.rank + "," + input;
  if (args.factors && parse_enum<FactorType>(input))
    hint += "; the type of factors follows an equals sign: --factors=" + input;
  if (args.residual && (input == "auto" || parse_positive_number(input)))
    hint += "; the gain of residuals follows an equals sign: --residual=" + input;
  return hint;
}

/// An input that was typed with a mistake ends the run before anything is done.
void check_inputs_exist(const RunArgs& args) {
  for (const std::filesystem::path& input : args.inputs) {
    check_exists(input, hint_of(args, input.native()));
  }
}

/// A file that a run writes, and what names it.
struct NamedFile {
  std::string option;
  std::filesystem::path path;
};

/// Whether both are the same file, such as two paths of a pipe. A device may be written by several.
bool is_same_file(const std::filesystem::path& a, const std::filesystem::path& b) {
  struct stat of_a {
  }, of_b{};
  if (::stat(a.c_str(), &of_a) == 0 && ::stat(b.c_str(), &of_b) == 0)
    return !S_ISCHR(of_a.st_mode) && of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
  const auto full = [](const std::filesystem::path& path) {
    std::error_code error;
    const std::filesystem::path absolute = std::filesystem::absolute(path, error);
    const std::filesystem::path real = std::filesystem::weakly_canonical(absolute, error);
    return error ? absolute.lexically_normal() : real;
  };
  return full(a) == full(b);
}

/// Throws FatalError if two options name the same file. A report is first written as FILE.part.
void check_files_differ(const RunArgs& args, const settings::Settings& settings) {
  const auto with_suffix = [](const std::filesystem::path& path, const char* suffix) {
    return path.empty() ? path : std::filesystem::path(path.native() + suffix);
  };
  const std::filesystem::path report = args.report == "-" ? "/dev/stdout" : args.report;
  const NamedFile files[] = {{"--report", report},
                             {"--report", with_suffix(report, ".part")},
                             {"--trace", args.trace},
                             {"telemetry.throughput_log", settings.telemetry.throughput_log}};
  for (const NamedFile& a : files) {
    for (const NamedFile& b : files) {
      if (a.option < b.option && !a.path.empty() && !b.path.empty() && is_same_file(a.path, b.path))
        throw FatalError(ExitCode::usage, a.option + " and " + b.option + " name the same file");
    }
  }
}

/// An output folder is needed unless nothing is written.
void check_output_folder(const RunArgs& args, const settings::OutputSettings& output) {
  check_residual(args, output);
  if (output.writes_files()) {
    if (args.output.empty()) throw FatalError(ExitCode::usage, "no output folder: give -o FOLDER");
    return;
  }
  const auto refuse = [](const std::string& option) {
    throw FatalError(ExitCode::usage,
                     option + " cannot be combined with output.format none: nothing is written");
  };
  if (!args.output.empty()) refuse("-o " + args.output.native());
  if (args.dry_run) refuse("--dry-run");
}

/// After an error, which matters more than one of this.
void publish_if_possible(app::ShardResults& results) try {
  results.publish();
} catch (const std::exception& error) {
  spdlog::warn("the ledger of the shard was not published: {}",
               text::printable_message(error.what()));
}

/// `shard_results` may be null.
ExitCode execute(app::Run& run, const RunArgs& args, bool show_progress,
                 app::ShardResults* shard_results) {
  return execute_run(run, show_progress, [&](const telemetry::RunReport& report) {
    if (shard_results && report.interrupted) shard_results->publish();
    if (shard_results && !report.interrupted) shard_results->finish();
    if (args.json) std::printf("%s\n", reports::to_json(report).c_str());
    if (args.quiet == 0) std::fputs(reports::to_text(report).c_str(), stderr);
  });
}

/// Returns which outputs were made with other settings; empty if none were, or all inputs are
/// processed anyway.
std::string settings_mismatch_text(const app::RunRequest& request) {
  if (request.overwrite || request.restarts > 0) return {};
  const app::SettingsMismatch mismatch = app::find_settings_mismatch(request);
  if (mismatch.count() == 0) return {};
  return text::printable(request.output.native()) + " has " + mismatch.describe();
}

constexpr const char* kSettingsMismatchAdvice =
    "Use --reprocess to reprocess them, or keep both with another output folder or output.name";

/// Call it before processing. Throws FatalError if outputs were made with other settings and may
/// not be reprocessed.
void check_settings_mismatch(const app::RunRequest& request) {
  const std::string mismatch = settings_mismatch_text(request);
  if (mismatch.empty()) return;
  if (request.on_change == pipeline::OnSettingsChange::reprocess)
    return spdlog::warn("{}: they will be reprocessed", mismatch);
  throw FatalError(ExitCode::usage, mismatch + ": nothing was done. " + kSettingsMismatchAdvice);
}

ExitCode execute_dry_run(app::Run& run, const app::RunRequest& request, const RunArgs& args) {
  DryRunOptions options{.json = args.json, .show_sum = args.quiet == 0};
  if (request.on_change == pipeline::OnSettingsChange::refuse) {
    const std::string mismatch = settings_mismatch_text(request);
    if (!mismatch.empty()) options.refusal = mismatch + ". " + kSettingsMismatchAdvice;
    const std::string of_shards =
        request.shard ? shard_mismatch_text(request.output, request.settings) : std::string();
    if (!of_shards.empty()) options.refusal = of_shards + ". " + kShardMismatchAdvice;
  }
  return exit_code(run, dry_run(run, options));
}

ExitCode execute(const RunArgs& args) {
  const auto start = Clock::now();
  const std::set<int> inherited = open_descriptors();
  raise_descriptor_limit();
  logging::start_log(args.verbose - args.quiet);
  settings::Configuration configuration = read_configuration(args);
  apply_flag(configuration.settings, "--ledger", "ledger.file", args.ledger);
  if (args.config.print) {
    std::fputs(settings::to_yaml(configuration).c_str(), stdout);
    return ExitCode::ok;
  }
  if (args.inputs.empty() && args.list().empty() && args.shard.empty()) {
    throw FatalError(ExitCode::usage, "no input: give folders, files, --files-from or --shard");
  }
  check_output_folder(args, configuration.settings.output);
  check_pack(args, configuration.settings);
  check_inputs_exist(args);
  check_not_image("--report", args.report);
  check_not_image("--trace", args.trace);
  check_files_differ(args, configuration.settings);

  const bool show_progress = args.quiet == 0 && !args.dry_run && logging::stderr_is_terminal();
  const RestartInfo restart = restart_info();
  const std::optional<app::ShardInputs> shard = read_shard(args);
  // The ledgers of shards have absolute paths: one for each output, whatever links lead to it.
  const std::filesystem::path output =
      shard ? std::filesystem::weakly_canonical(args.output) : args.output;
  ShardRun shard_run{.output = output};
  if (shard) {
    if (restart.count == 0 && !args.dry_run)
      check_shard_mismatch(output, configuration.settings, args.reprocesses());
    shard_run = prepare_shard(args, *shard, output, configuration.settings);
    if (shard_run.finished_code) return *shard_run.finished_code;
  }
  app::ShardResults* const shard_results = shard_run.results.get();
  std::string loss_message;
  std::int64_t run_number = 0;
  {
    const app::RunRequest request{.settings = configuration.settings,
                                  .inputs = shard ? shard->manifest.inputs : args.inputs,
                                  .files_from = args.list(),
                                  .files_from_separator = args.separator(),
                                  .shard = shard,
                                  .output = shard_run.output,
                                  .report = args.report,
                                  .trace = args.trace,
                                  .overwrite = args.overwrite,
                                  .on_change = args.reprocess
                                                   ? pipeline::OnSettingsChange::reprocess
                                                   : pipeline::OnSettingsChange::refuse,
                                  .count_inputs = show_progress,
                                  .restarts = restart.count,
                                  .run_number = shard_run.is_packed ? 0 : restart.run_number};
    app::Run run(request, start);
    if (args.dry_run) return execute_dry_run(run, request, args);
    check_settings_mismatch(request);
    if (shard_results) begin_shard(*shard_results, *shard, output);
    try {
      return execute(run, args, show_progress, shard_results);
    } catch (const DeviceLostError& error) {
      if (!run.can_restart()) throw;
      if (shard_results) shard_results->publish();  // the next process begins with it
      loss_message = error.what();
      run_number = run.run_number();
      run.close_report();
    } catch (...) {
      if (shard_results) publish_if_possible(*shard_results);
      throw;
    }
  }
  restart_process(loss_message, run_number, inherited);
}

void add_output_options(CLI::App& run, RunArgs& args) {
  const char* const group = "Output";
  run.add_option("-o,--output", args.output,
                 "Output folder; created if missing. Not used if nothing is written")
      ->type_name("FOLDER")
      ->group(group);
  add_format_options(run, args);
  run.add_option("--ledger", args.ledger,
                 "Ledger of finished outputs: auto (in the output folder), none, or a file")
      ->type_name("FILE")
      ->default_str("auto")
      ->group(group);
  run.add_flag("--overwrite", args.overwrite,
               "Process all inputs again and overwrite existing files")
      ->group(group);
  run.add_flag("--reprocess", args.reprocess,
               "Reprocess outputs that were made with other settings")
      ->group(group);
  add_pack_option(run, args,
                  "tar, with --shard: the outputs go to one tar archive in the output folder, with "
                  "an index and a report beside it");
  add_wait_for_space_option(run, args);
}

void add_report_options(CLI::App& run, RunArgs& args) {
  const char* const group = "Reports and log";
  run.add_flag(
         "--dry-run", args.dry_run,
         "Print whether each output is new, the same, reprocessed or a collision; write nothing")
      ->group(group);
  run.add_flag(
         "--json", args.json,
         "Print the summary as one JSON object on stdout; with --dry-run, a line per output too")
      ->group(group);
  run.add_option("--report", args.report,
                 "Rank, PSNR, SSIM, sizes and times of each output: CSV if FILE ends with .csv, "
                 "otherwise JSON lines; - is stdout")
      ->type_name("FILE")
      ->group(group);
  add_peak_option(run, args.peak)->group(group);
  run.add_option("--trace", args.trace,
                 "File for a timeline of images and batches, for ui.perfetto.dev")
      ->type_name("FILE")
      ->group(group);
  run.add_flag("-v,--verbose", args.verbose, "Log each finished image; given twice, each batch too")
      ->group(group);
  run.add_flag("-q,--quiet", args.quiet,
               "No progress bar or summary, only warnings; given twice, only errors")
      ->group(group);
}

}  // namespace

void add_run(CLI::App& app, Action& action) {
  auto args = std::make_shared<RunArgs>();
  CLI::App* run = app.add_subcommand("run", "Reconstruct the images in folders and files at rank k")
                      ->group(kProcessingCommands);
  add_input_options(
      *run, *args,
      "Folders (processed recursively; the tree is mirrored), tar archives and image files");
  add_shard_option(*run, *args);
  add_reconstruction_options(*run, *args);
  add_output_options(*run, *args);
  add_config_options(*run, args->config);
  add_report_options(*run, *args);
  describe(*run,
           {.usage = {"INPUT... -o FOLDER [OPTIONS]", "INPUT... --format none [OPTIONS]"},
            .examples = {{"Reconstruct all images of a folder and one file at rank 20",
                          "eckart run photos scans/one.png -o out --rank 20"},
                         {"Three ranks from one decomposition, with a report",
                          "eckart run photos -o out --rank 5,20,50 --report out.jsonl"},
                         {"Measure these ranks without writing images",
                          "eckart run photos --format none --rank 5,20,50 --report ranks.csv"},
                         {"Only some files, and the summary for a script",
                          "find scans -name '*.jpg' -print0 | eckart run --files-from0 - -o out "
                          "--json -q"}},
            .exit_codes = {ExitCode::ok, ExitCode::some_failed, ExitCode::usage,
                           ExitCode::nothing_readable, ExitCode::no_input, ExitCode::unavailable,
                           ExitCode::cannot_create, ExitCode::io_error, ExitCode::temporary,
                           ExitCode::no_permission, ExitCode::configuration, ExitCode::hung_up,
                           ExitCode::interrupted, ExitCode::terminated}});
  run->callback([args, &action] { action = [args] { return execute(*args); }; });
}

}  // namespace eckart::cli
