#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "core/error.hpp"
#include "settings/choices.hpp"

namespace eckart::cli {

/// Runs the chosen subcommand after the command line was parsed.
using Action = std::function<ExitCode()>;

// Groups of commands in the help.
inline constexpr const char* kProcessingCommands = "Reconstruct images";
inline constexpr const char* kMeasuringCommands = "Measure images";
inline constexpr const char* kManyMachinesCommands = "Use many machines";
inline constexpr const char* kOutputCommands = "Manage output folders";
inline constexpr const char* kMachineCommands = "Observe and measure";

/// Each function adds one subcommand to `app`. Parsing the subcommand sets `action`.
void add_run(CLI::App& app, Action& action);
void add_watch(CLI::App& app, Action& action);
void add_measure(CLI::App& app, Action& action);
void add_inspect(CLI::App& app, Action& action);
void add_shard(CLI::App& app, Action& action);
void add_slurm(CLI::App& app, Action& action);
void add_pack(CLI::App& app, Action& action);
void add_unpack(CLI::App& app, Action& action);
void add_enqueue(CLI::App& app, Action& action);
void add_worker(CLI::App& app, Action& action);
void add_status(CLI::App& app, Action& action);
void add_requeue(CLI::App& app, Action& action);
void add_prune(CLI::App& app, Action& action);
void add_ledger(CLI::App& app, Action& action);
void add_top(CLI::App& app, Action& action);
void add_doctor(CLI::App& app, Action& action);
void add_bench(CLI::App& app, Action& action);
void add_plan(CLI::App& app, Action& action);
void add_simulate(CLI::App& app, Action& action);
void add_synth(CLI::App& app, Action& action);

/// Adds all subcommands. Each occurrence of an option takes one argument, even if the option may be
/// repeated. Later arguments are inputs or other options.
void add_commands(CLI::App& app, Action& action);

/// Adds the option for the ledger file of an output folder.
void add_ledger_option(CLI::App& command, settings::FileChoice& ledger);

}  // namespace eckart::cli
