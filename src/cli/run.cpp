#include "app/run.hpp"

#include <spdlog/spdlog.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "app/log_stop.hpp"
#include "app/settings_mismatch.hpp"
#include "cli/commands.hpp"
#include "cli/configuration.hpp"
#include "cli/descriptor_limit.hpp"
#include "cli/restart_process.hpp"
#include "cli/signal_handler.hpp"
#include "cli/stop_signals.hpp"
#include "core/instant.hpp"
#include "io/codec.hpp"
#include "logging/log.hpp"
#include "logging/progress.hpp"
#include "reports/run_report_text.hpp"
#include "settings/value_types.hpp"
#include "settings/watches.hpp"
#include "text/format_count.hpp"
#include "text/group_digits.hpp"
#include "text/printable.hpp"

namespace eckart::cli {
namespace {

struct RunArgs {
  std::vector<std::filesystem::path> inputs;
  std::filesystem::path files_from, output, report, trace;
  ConfigArgs config;
  std::optional<std::string> rank, backend, solver, format, ledger;
  bool overwrite = false, reprocess = false, deterministic = false, wait_for_space = false,
       json = false, dry_run = false;
  int verbose = 0, quiet = 0;
};

/// Applies a flag as a --set assignment. An error message names the flag.
void apply_flag(settings::Settings& settings, const std::string& flag, const std::string& key,
                const std::optional<std::string>& value) {
  if (!value) return;
  const std::string assignment = key + "=" + settings::Text{}.print(*value);
  try {
    settings::apply(settings, assignment);
  } catch (const settings::SettingsError& error) {
    std::string what = error.what();
    const std::string place = "--set " + settings::one_line(assignment);
    if (what.starts_with(place)) what.replace(0, place.size(), flag + " " + *value);
    throw FatalError(ExitCode::usage, what);
  }
}

/// Flags override other settings.
settings::Configuration read_configuration(const RunArgs& args) {
  settings::Configuration configuration = read_configuration(args.config);
  settings::Settings& settings = configuration.settings;
  apply_flag(settings, "--rank", "rank", args.rank);
  apply_flag(settings, "--backend", "backend", args.backend);
  apply_flag(settings, "--solver", "solver", args.solver);
  apply_flag(settings, "--format", "output.format", args.format);
  apply_flag(settings, "--ledger", "ledger.file", args.ledger);
  if (args.deterministic) settings.deterministic = true;
  if (args.wait_for_space) settings.wait_for_space = true;
  return configuration;
}

ExitCode exit_code(const telemetry::RunReport& report) {
  if (report.images() == 0 && !report.interrupted) {
    throw FatalError(
        ExitCode::nothing_readable,
        "no images in the inputs" +
            (report.ignored > 0 ? " (" + reports::ignored_text(report) + ")" : std::string()));
  }
  return app::exit_code(report);
}

/// Describes and counts the decisions of a dry run.
struct DryRunCounts {
  std::int64_t created = 0, unchanged = 0, reprocessed = 0, collisions = 0;

  std::string add_and_describe(const pipeline::OutputDecision& decision) {
    switch (decision.action) {
      case pipeline::OutputAction::create:
        ++created;
        return "new";
      case pipeline::OutputAction::skip:
        ++unchanged;
        return "same";
      case pipeline::OutputAction::reprocess:
        ++reprocessed;
        return "reprocessed (" + decision.explanation + ")";
      case pipeline::OutputAction::compare:
      case pipeline::OutputAction::reject:
        break;
    }
    ++collisions;
    return "collision (" + decision.explanation + ")";
  }
};

telemetry::RunReport dry_run(app::Run& run, const RunArgs& args) {
  DryRunCounts counts;
  telemetry::RunReport report = run.dry_run(
      [&](const pipeline::WorkItem& item, std::span<const pipeline::OutputDecision> decisions) {
        const std::string file = text::printable(item.file.native());
        if (decisions.empty())
          std::printf("%s: would fail: %s\n", file.c_str(),
                      text::printable_message(item.outcome.detail).c_str());
        for (std::size_t i = 0; i < decisions.size(); ++i)
          std::printf("%s -> %s: %s\n", file.c_str(),
                      text::printable(item.outputs[i].native()).c_str(),
                      text::printable_message(counts.add_and_describe(decisions[i])).c_str());
      });
  if (args.quiet == 0)
    std::fprintf(stderr, "outputs: %s new, %s same, %s reprocessed, %s collisions\n",
                 text::group_digits(counts.created).c_str(),
                 text::group_digits(counts.unchanged).c_str(),
                 text::group_digits(counts.reprocessed).c_str(),
                 text::group_digits(counts.collisions).c_str());
  return report;
}

ExitCode execute(app::Run& run, const RunArgs& args, bool show_progress) {
  const std::chrono::seconds shutdown_timeout(run.settings().timeouts.shutdown_s);
  const SignalHandler signals(
      {.on_stop =
           [&](int) {
             app::log_stop(shutdown_timeout);
             run.request_stop();
           },
       .on_status_request = [&] { logging::log_always(view_text(run.current_view())); },
       .shutdown_timeout = [&] { return shutdown_timeout; },
       .pending_work = [&] { return run.describe_activity(); }});
  std::optional<logging::ProgressBar> bar;
  if (show_progress) bar.emplace([&] { return run.progress(); });
  telemetry::RunReport report;
  try {
    report = run.execute();
  } catch (const DeviceLostError&) {
    if (signals.received() == 0) throw;
    return exit_code_of(signals.received());  // stopped by the user: no restart
  } catch (const EnvironmentError&) {
    if (signals.received() == 0) throw;
    return exit_code_of(signals.received());  // stopped while waiting for disk space
  }
  bar.reset();

  if (args.json) std::printf("%s\n", reports::to_json(report).c_str());
  if (args.quiet == 0) std::fputs(reports::to_text(report).c_str(), stderr);
  run.close_report();
  if (!report.interrupted || (!report.stopped_by.empty() && signals.received() == 0))
    return exit_code(report);
  return exit_code_of(signals.received());
}

/// Call it before processing. Throws FatalError if outputs were made with other settings and may
/// not be reprocessed.
void check_settings_mismatch(const app::RunRequest& request) {
  const app::SettingsMismatch mismatch = app::find_settings_mismatch(request);
  if (mismatch.count() == 0) return;
  const std::string what = text::printable(request.output.native()) + " has " + mismatch.describe();
  if (request.on_change == pipeline::OnSettingsChange::reprocess)
    return spdlog::warn("{}: they will be reprocessed", what);
  throw FatalError(
      ExitCode::usage,
      what +
          ": nothing was done. Use --reprocess to reprocess them, or keep both with another output "
          "folder or output.name");
}

void check_not_image(const std::string& flag, const std::filesystem::path& file) {
  if (io::is_image_file_name(file.filename().string()))
    throw FatalError(ExitCode::usage,
                     flag + " " + text::printable(file.native()) + " would overwrite an image");
}

ExitCode execute(const RunArgs& args) {
  const auto start = Clock::now();
  const std::set<int> inherited = open_descriptors();
  raise_descriptor_limit();
  logging::start_log(args.verbose - args.quiet);
  const settings::Configuration configuration = read_configuration(args);
  if (args.config.print) {
    std::fputs(settings::to_yaml(configuration).c_str(), stdout);
    return ExitCode::ok;
  }
  if (args.inputs.empty() && args.files_from.empty()) {
    throw FatalError(ExitCode::usage, "no input: give folders, files or --files-from");
  }
  if (args.output.empty()) throw FatalError(ExitCode::usage, "no output folder: give -o OUT");
  check_not_image("--report", args.report);
  check_not_image("--trace", args.trace);

  const bool show_progress = args.quiet == 0 && !args.dry_run && logging::stderr_is_terminal();
  const RestartInfo restart = restart_info();
  std::string loss_message;
  std::int64_t run_number = 0;
  {
    const app::RunRequest request{.settings = configuration.settings,
                                  .inputs = args.inputs,
                                  .files_from = args.files_from,
                                  .output = args.output,
                                  .report = args.report,
                                  .trace = args.trace,
                                  .overwrite = args.overwrite,
                                  .on_change = args.reprocess
                                                   ? pipeline::OnSettingsChange::reprocess
                                                   : pipeline::OnSettingsChange::refuse,
                                  .count_inputs = show_progress,
                                  .restarts = restart.count,
                                  .run_number = restart.run_number};
    app::Run run(request, start);
    if (args.dry_run) return exit_code(dry_run(run, args));
    if (!args.overwrite && restart.count == 0) check_settings_mismatch(request);
    try {
      return execute(run, args, show_progress);
    } catch (const DeviceLostError& error) {
      if (!run.can_restart()) throw;
      loss_message = error.what();
      run_number = run.run_number();
      run.close_report();
    }
  }
  restart_process(loss_message, run_number, inherited);
}

}  // namespace

void add_run(CLI::App& app, Action& action) {
  auto args = std::make_shared<RunArgs>();
  CLI::App* run =
      app.add_subcommand("run", "Reconstruct the images in folders and files at rank k");
  run->add_option("inputs", args->inputs,
                  "Folders (processed recursively; the tree is mirrored) and image files");
  run->add_option("--files-from", args->files_from,
                  "File with further inputs, one path per line; - is stdin");
  run->add_option("-o,--output", args->output, "Output folder; created if missing");
  run->add_option("-k,--rank", args->rank,
                  "Rank or comma-separated ranks, such as 20 or 5,20,50; default 20");
  run->add_option("--backend", args->backend,
                  list_names<settings::BackendChoice>() +
                      "; auto is cuda if there is a GPU, checked compares cuda with cpu");
  run->add_option("--solver", args->solver, list_names<SolverKind>());
  run->add_option(
      "--format", args->format,
      list_names<ImageFormat>() + "; default " + to_string(settings::OutputSettings{}.format));
  run->add_option("--ledger", args->ledger,
                  "Ledger of finished outputs: auto (in OUT), none, or a file");
  run->add_flag("--overwrite", args->overwrite,
                "Process all inputs again and overwrite existing files");
  run->add_flag("--reprocess", args->reprocess,
                "Reprocess outputs that were made with other settings");
  run->add_flag("--deterministic", args->deterministic,
                "CUDA: identical bytes whatever the batch, at some cost");
  run->add_flag("--wait-for-space", args->wait_for_space,
                "Wait for space when the disk is full, instead of exiting with 74");
  add_config_options(*run, args->config);
  run->add_flag(
      "--dry-run", args->dry_run,
      "Print whether each output is new, the same, reprocessed or a collision; write nothing");
  run->add_option("--report", args->report,
                  "JSON line per output: rank, PSNR, energy, certificate; - is stdout");
  run->add_option("--trace", args->trace,
                  "File for a timeline of images and batches, for ui.perfetto.dev");
  run->add_flag("--json", args->json, "Print the summary as one JSON object on stdout");
  run->add_flag("-v,--verbose", args->verbose,
                "Log each finished image; given twice, each batch too");
  run->add_flag("-q,--quiet", args->quiet,
                "No progress bar or summary, only warnings; given twice, only errors");
  run->callback([args, &action] { action = [args] { return execute(*args); }; });
}

}  // namespace eckart::cli
