#include <cstdio>
#include <memory>

#include "app/ledger_status.hpp"
#include "app/prune.hpp"
#include "app/requeue.hpp"
#include "cli/commands.hpp"
#include "cli/configuration.hpp"
#include "io/quarantine.hpp"
#include "text/printable.hpp"

namespace eckart::cli {
namespace {

struct StatusArgs {
  ConfigArgs config;
  std::filesystem::path output;
  settings::FileChoice ledger;
  int failures = 20;
  int orphans = 0;
};

/// Prints outputs whose input no longer exists.
void print_orphans(const StatusArgs& args) {
  app::PruneRequest request;
  request.output = args.output;
  request.ledger = args.ledger;
  const std::vector<app::Orphan> orphans = app::find_orphans(request).removable;
  if (orphans.empty()) return;
  if (orphans.size() == 1) {
    std::printf("1 output whose input no longer exists; eckart prune removes it\n");
  } else {
    std::printf("%zu outputs whose inputs no longer exist; eckart prune removes them\n",
                orphans.size());
  }
  for (std::size_t i = 0; i < orphans.size() && i < std::size_t(args.orphans); ++i) {
    std::printf("%s: %s no longer exists\n", text::printable(orphans[i].output).c_str(),
                text::printable(orphans[i].input).c_str());
  }
}

/// Shows one output folder. Throws FatalError if it has no ledger.
void print_folder(const StatusArgs& args) {
  const app::LedgerStatus status = app::read_ledger_status(args.output, args.ledger, args.failures);
  const auto& [done, failed, failures] = status.counts;
  std::printf("%s: %lld done, %lld failed\n", text::printable(args.output.native()).c_str(),
              static_cast<long long>(done), static_cast<long long>(failed));
  for (int reason = 0; reason < kFailureReasonCount; ++reason) {
    const std::int64_t count = failures[std::size_t(reason)];
    if (count == 0) continue;
    std::printf("%8lld %s\n", static_cast<long long>(count),
                std::string(to_string(FailureReason(reason))).c_str());
  }
  for (const ledger::FailureEntry& failure : status.failed) {
    std::printf("%s: %s (%s)\n", text::printable(failure.input).c_str(),
                text::printable_message(failure.detail).c_str(),
                std::string(to_string(failure.reason)).c_str());
  }
  const std::int64_t more = failed - std::int64_t(status.failed.size());
  if (more > 0)
    std::printf("and %lld more; use --failures N to list N\n", static_cast<long long>(more));
  const std::size_t quarantined = io::quarantine_records(io::quarantine_folder(args.output)).size();
  if (quarantined > 0)
    std::printf("%zu in quarantine; to retry %s, run: %s\n", quarantined,
                quarantined == 1 ? "it" : "them", app::requeue_command(args.output).c_str());
  std::fflush(stdout);  // the rest is slow
  const app::UnfinishedCount unfinished = app::count_unfinished(args.output, args.ledger);
  if (unfinished.images) {
    std::printf("%lld unfinished\n", static_cast<long long>(*unfinished.images));
  } else {
    std::printf("unfinished unknown: %s\n", text::printable_message(unfinished.error).c_str());
  }
  std::fflush(stdout);
  print_orphans(args);
}

/// Shows the output folder of each watch, also after an error of one. A watch without a ledger has
/// written nothing yet, which is no error.
ExitCode print_watches(const StatusArgs& args) {
  const std::vector<settings::WatchSettings> watches =
      settings::resolve_watches(read_configuration(args.config));
  if (watches.empty())
    throw FatalError(ExitCode::usage,
                     "no output folder: give OUT, or --config with a file that has watches");
  ExitCode code = ExitCode::ok;
  for (const settings::WatchSettings& watch : watches) {
    std::printf("%swatch %s: %s\n", &watch == &watches.front() ? "" : "\n", watch.name.c_str(),
                text::printable(watch.input.native()).c_str());
    StatusArgs folder = args;
    folder.output = watch.output;
    folder.ledger = watch.settings.ledger;
    try {
      print_folder(folder);
    } catch (const FatalError& error) {
      std::printf("%s\n", text::printable_message(error.what()).c_str());
      if (error.code() != ExitCode::no_input) code = error.code();
    }
  }
  return code;
}

ExitCode status(const StatusArgs& args) {
  if (args.output.empty()) return print_watches(args);
  print_folder(args);
  return ExitCode::ok;
}

}  // namespace

void add_status(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("status", "Show what is done, failed and unfinished in an output folder");
  auto args = std::make_shared<StatusArgs>();
  command->add_option("output", args->output,
                      "Output folder; default: those of all watches of the configuration");
  command->add_option("--config", args->config.file, "YAML file with watches")
      ->check(CLI::ExistingFile);
  add_ledger_option(*command, args->ledger);
  command->add_option("--failures", args->failures, "Number of failures to list")
      ->check(CLI::Range(0, 1000000000))
      ->capture_default_str();
  command->add_option("--orphans", args->orphans, "Number of outputs of deleted inputs to list")
      ->check(CLI::Range(0, 1000000000))
      ->capture_default_str();
  command->callback([args, &action] { action = [args] { return status(*args); }; });
}

}  // namespace eckart::cli
