#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "app/ledger_report.hpp"
#include "app/ledger_status.hpp"
#include "app/prune.hpp"
#include "app/requeue.hpp"
#include "app/shard_files.hpp"
#include "app/shard_ledger.hpp"
#include "app/shard_settings.hpp"
#include "cli/amqp_options.hpp"
#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/configuration.hpp"
#include "cli/existing_path.hpp"
#include "cli/help.hpp"
#include "cli/queue_status.hpp"
#include "io/quarantine.hpp"
#include "reports/image_report.hpp"
#include "text/format_count.hpp"
#include "text/group_digits.hpp"
#include "text/json.hpp"
#include "text/printable.hpp"

namespace eckart::cli {
namespace {

struct StatusArgs {
  ConfigArgs config;
  AmqpArgs amqp;
  std::filesystem::path output;
  settings::FileChoice ledger;
  int failures = 20;
  int orphans = 0;
  bool json = false;
  std::filesystem::path report;
};

/// Text for people; stdout has nothing but records if the report goes there.
std::FILE* text_stream(const StatusArgs& args) { return args.report == "-" ? stderr : stdout; }

/// Prints outputs whose input no longer exists.
void print_orphans(const StatusArgs& args) {
  app::PruneRequest request;
  request.output = args.output;
  request.ledger = args.ledger;
  const auto [orphans, modified, without_mtime, uncertain] = app::find_orphans(request);
  if (orphans.size() == 1) {
    std::fprintf(text_stream(args),
                 "1 output whose input no longer exists; eckart prune removes it\n");
  } else if (orphans.size() > 1) {
    std::fprintf(text_stream(args),
                 "%zu outputs whose inputs no longer exist; eckart prune removes them\n",
                 orphans.size());
  }
  for (std::size_t i = 0; i < orphans.size() && i < std::size_t(args.orphans); ++i) {
    std::fprintf(text_stream(args), "%s: %s no longer exists\n",
                 text::printable(orphans[i].output).c_str(),
                 text::printable(orphans[i].input).c_str());
  }
  for (const auto& [root, outputs] : uncertain) {
    std::fprintf(text_stream(args), "%s of missing inputs in %s: %s\n",
                 text::format_count(outputs, "output").c_str(), text::printable(root).c_str(),
                 app::uncertain_orphans_text(root, false).c_str());
  }
}

/// Returns one object, with all orphans and at most args.failures failures.
text::Json folder_json(const StatusArgs& args, const settings::WatchSettings* watch) {
  const app::LedgerStatus status = app::read_ledger_status(args.output, args.ledger, args.failures);
  const app::UnfinishedCount unfinished = app::count_unfinished(args.output, args.ledger);
  text::Json reasons = text::Json::object(), failed_inputs = text::Json::array(),
             orphans = text::Json::array();
  for (int reason = 0; reason < kFailureReasonCount; ++reason) {
    const std::int64_t count = status.counts.failures[std::size_t(reason)];
    if (count > 0) reasons[std::string(to_string(FailureReason(reason)))] = count;
  }
  for (const ledger::FailureEntry& failure : status.failed)
    failed_inputs.push_back({{"input", failure.input},
                             {"reason", to_string(failure.reason)},
                             {"detail", failure.detail}});
  text::Json manifests = text::Json::array();
  for (const app::ManifestProgress& manifest : app::manifests_in(args.output))
    manifests.push_back({{"manifest", manifest.manifest},
                         {"shards", manifest.shards},
                         {"finished_shards", manifest.finished_shards},
                         {"images", manifest.images}});
  const app::Orphans found = app::find_orphans({.output = args.output, .ledger = args.ledger});
  for (const app::Orphan& orphan : found.removable)
    orphans.push_back({{"output", orphan.output}, {"input", orphan.input}});
  text::Json uncertain = text::Json::object();
  for (const auto& [root, outputs] : found.uncertain) uncertain[root] = outputs;
  return {
      {"kind", "status"},
      {"watch", watch ? text::Json(watch->name) : text::Json()},
      {"output_folder", args.output.native()},
      {"done", status.counts.done},
      {"failed", status.counts.failed},
      {"failures", reasons},
      {"failed_inputs", failed_inputs},
      {"quarantined", io::quarantine_records(io::quarantine_folder(args.output)).size()},
      {"unfinished", unfinished.images ? text::Json(*unfinished.images) : text::Json()},
      {"unfinished_error", unfinished.images ? text::Json() : text::Json(unfinished.error)},
      {"orphans", orphans},
      {"uncertain_orphans", uncertain},
      {"manifests", manifests},
      {"shard_settings", app::noted_settings(args.output)},
  };
}

/// Prints how many shards of each manifest are done, and whether their settings differ.
void print_shards(const StatusArgs& args) {
  for (const app::ManifestProgress& manifest : app::manifests_in(args.output))
    std::fprintf(text_stream(args), "%s of %s finished, of manifest %s with %s\n",
                 text::group_digits(manifest.finished_shards).c_str(),
                 text::format_count(manifest.shards, "shard").c_str(), manifest.manifest.c_str(),
                 text::format_count(manifest.images, "image").c_str());
  const std::vector<std::vector<std::string>> settings = app::noted_settings(args.output);
  if (settings.size() > 1)
    std::fprintf(text_stream(args), "shards were processed with %zu settings: %s\n",
                 settings.size(),
                 text::printable(app::describe_settings_changes(settings)).c_str());
}

/// Shows one output folder. Throws FatalError if it has no ledger.
void print_folder_text(const StatusArgs& args) {
  const app::LedgerStatus status = app::read_ledger_status(args.output, args.ledger, args.failures);
  const auto& [done, failed, failures] = status.counts;
  std::fprintf(text_stream(args), "%s: %lld done, %lld failed\n",
               text::printable(args.output.native()).c_str(), static_cast<long long>(done),
               static_cast<long long>(failed));
  for (int reason = 0; reason < kFailureReasonCount; ++reason) {
    const std::int64_t count = failures[std::size_t(reason)];
    if (count == 0) continue;
    std::fprintf(text_stream(args), "%8lld %s\n", static_cast<long long>(count),
                 std::string(to_string(FailureReason(reason))).c_str());
  }
  for (const ledger::FailureEntry& failure : status.failed) {
    std::fprintf(text_stream(args), "%s: %s (%s)\n", text::printable(failure.input).c_str(),
                 text::printable_message(failure.detail).c_str(),
                 std::string(to_string(failure.reason)).c_str());
  }
  const std::int64_t more = failed - std::int64_t(status.failed.size());
  if (more > 0)
    std::fprintf(text_stream(args), "and %lld more; use --failures N to list N\n",
                 static_cast<long long>(more));
  const std::size_t quarantined = io::quarantine_records(io::quarantine_folder(args.output)).size();
  if (quarantined > 0)
    std::fprintf(text_stream(args), "%zu in quarantine; to retry %s, run: %s\n", quarantined,
                 quarantined == 1 ? "it" : "them", app::requeue_command(args.output).c_str());
  print_shards(args);
  std::fflush(text_stream(args));  // the rest is slow
  const app::UnfinishedCount unfinished = app::count_unfinished(args.output, args.ledger);
  if (unfinished.images) {
    std::fprintf(text_stream(args), "%lld unfinished\n",
                 static_cast<long long>(*unfinished.images));
  } else {
    std::fprintf(text_stream(args), "unfinished unknown: %s\n",
                 text::printable_message(unfinished.error).c_str());
  }
  std::fflush(text_stream(args));
  print_orphans(args);
}

/// Prints one output folder as text or JSON. `watch`: its watch, or null.
void print_folder(const StatusArgs& args, const settings::WatchSettings* watch = nullptr) {
  if (!args.json) return print_folder_text(args);
  std::printf("%s\n", text::dump_json(folder_json(args, watch)).c_str());
}

/// Shows the output folder of each watch, also after an error of one. A watch without a ledger has
/// written nothing yet, which is no error. Adds the folders that were shown to `shown`.
ExitCode print_watches(const StatusArgs& args, std::vector<StatusArgs>& shown) {
  const std::vector<settings::WatchSettings> watches =
      settings::resolve_watches(read_configuration(args.config));
  if (watches.empty())
    throw FatalError(ExitCode::usage,
                     "no output folder: give one, or --config with a file that has watches");
  ExitCode code = ExitCode::ok;
  for (const settings::WatchSettings& watch : watches) {
    if (!args.json)
      std::fprintf(text_stream(args), "%swatch %s: %s\n", &watch == &watches.front() ? "" : "\n",
                   watch.name.c_str(), text::printable(watch.input.native()).c_str());
    StatusArgs folder = args;
    folder.output = watch.output;
    folder.ledger = watch.settings.ledger;
    try {
      print_folder(folder, &watch);
      shown.push_back(folder);
    } catch (const FatalError& error) {
      const std::string message = text::printable_message(error.what());
      std::fprintf(args.json ? stderr : text_stream(args), "%s\n", message.c_str());
      if (error.code() != ExitCode::no_input) code = error.code();
    }
  }
  return code;
}

/// Writes one report of all outputs in these folders.
void write_report(const std::filesystem::path& file, const std::vector<StatusArgs>& folders) {
  std::fflush(stdout);  // the report may go there
  reports::ImageReport report(file);
  for (const StatusArgs& folder : folders)
    app::add_ledger_records(report, folder.output, folder.ledger);
  report.close();
}

ExitCode status(const StatusArgs& args);

/// A queue, and the output folder of its workers if one is given. The workers may not have
/// published anything there yet.
ExitCode status_of_queue(const StatusArgs& args) {
  print_queue_status(args.amqp, args.failures, args.json);
  if (args.output.empty()) return ExitCode::ok;
  StatusArgs folder = args;
  folder.amqp.url.clear();
  try {
    return status(folder);
  } catch (const FatalError& error) {
    if (error.code() != ExitCode::no_input) throw;
    std::fprintf(args.json ? stderr : text_stream(args),
                 "%s: workers have published no results yet; they do it every minute\n",
                 text::printable(args.output.native()).c_str());
    return ExitCode::ok;
  }
}

ExitCode status(const StatusArgs& args) {
  if (!args.amqp.url.empty()) return status_of_queue(args);
  check_not_image("--report", args.report);
  if (!args.output.empty() && args.ledger.is_auto()) check_exists(args.output);
  std::vector<StatusArgs> shown;
  ExitCode code = ExitCode::ok;
  if (args.output.empty()) {
    code = print_watches(args, shown);
  } else {
    StatusArgs folder = args;
    std::unique_ptr<app::MergedLedger> merged;
    if (args.ledger.is_auto()) merged = app::MergedLedger::for_status(args.output);
    if (merged) folder.ledger = merged->choice();
    print_folder(folder);
    shown.push_back(folder);
    if (!args.report.empty()) write_report(args.report, shown);
    return code;
  }
  if (!args.report.empty()) write_report(args.report, shown);
  return code;
}

}  // namespace

void add_status(CLI::App& app, Action& action) {
  constexpr int kMaxListed = 1000000000;
  CLI::App* command =
      app.add_subcommand("status", "Show what is done, failed and unfinished in an output folder")
          ->group(kOutputCommands);
  auto args = std::make_shared<StatusArgs>();
  command->add_option("FOLDER", args->output,
                      "Output folder; without it, those of all watches of the settings");
  command->add_option("--config", args->config.file, "YAML file with watches")->type_name("FILE");
  add_ledger_option(*command, args->ledger);
  command
      ->add_option("--failures", args->failures, "Number of failures, or of dead letters, to list")
      ->type_name("N")
      ->check(number_between(0, kMaxListed))
      ->capture_default_str();
  command->add_option("--orphans", args->orphans, "Number of outputs of deleted inputs to list")
      ->type_name("N")
      ->check(number_between(0, kMaxListed))
      ->capture_default_str();
  command->add_flag("--json", args->json, "Print a JSON object per output folder");
  command
      ->add_option("--report", args->report,
                   "Quality, sizes and times of all outputs: CSV if FILE ends with .csv, otherwise "
                   "JSON lines; - is stdout")
      ->type_name("FILE");
  add_amqp_options(*command, args->amqp, false);
  describe(
      *command,
      {.usage = {"FOLDER [OPTIONS]", "[--config FILE] [OPTIONS]", "--amqp URL [FOLDER] [OPTIONS]"},
       .examples = {{"What is done and what failed", "eckart status out"},
                    {"All watches of the service", "eckart status"},
                    {"Quality, sizes and times of all outputs as a table",
                     "eckart status out --report out.csv"},
                    {"Outputs whose inputs were deleted", "eckart status out --orphans 100"},
                    {"A queue of RabbitMQ, its workers and its dead letters",
                     "eckart status --amqp amqp://broker"}},
       .exit_codes = {ExitCode::ok, ExitCode::usage, ExitCode::nothing_readable, ExitCode::no_input,
                      ExitCode::unavailable, ExitCode::cannot_create, ExitCode::io_error,
                      ExitCode::temporary, ExitCode::no_permission, ExitCode::configuration}});
  command->callback([args, &action] { action = [args] { return status(*args); }; });
}

}  // namespace eckart::cli
