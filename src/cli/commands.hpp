#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "settings/choices.hpp"

namespace eckart::cli {

/// Runs the chosen subcommand after the command line was parsed.
using Action = std::function<ExitCode()>;

/// Each function adds one subcommand to `app`. Parsing the subcommand sets `action`.
void add_run(CLI::App& app, Action& action);
void add_synth(CLI::App& app, Action& action);
void add_plan(CLI::App& app, Action& action);
void add_doctor(CLI::App& app, Action& action);
void add_status(CLI::App& app, Action& action);
void add_requeue(CLI::App& app, Action& action);
void add_prune(CLI::App& app, Action& action);
void add_ledger(CLI::App& app, Action& action);
void add_watch(CLI::App& app, Action& action);
void add_top(CLI::App& app, Action& action);
void add_bench(CLI::App& app, Action& action);

/// Adds all subcommands. Each occurrence of an option takes one argument, even if the option may be
/// repeated. Later arguments are inputs or other options.
void add_commands(CLI::App& app, Action& action);

/// Adds the option for the ledger file of an output folder.
void add_ledger_option(CLI::App& command, settings::FileChoice& ledger);

/// Calls app.parse() with these arguments, in their order. Throws CLI::ArgumentMismatch for values
/// that CLI11 would read otherwise than the user expects: an empty value such as `--report=` or
/// `--report ''`, and an equals sign after a short option, as in `-o=out`.
void parse(CLI::App& app, const std::vector<std::string>& arguments);

}  // namespace eckart::cli
