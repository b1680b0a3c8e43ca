#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "settings/choices.hpp"

namespace eckart::cli {

/// What the chosen subcommand does, once the command line has been read.
using Action = std::function<ExitCode()>;

/// Each adds one subcommand to `app`; parsing it sets `action`.
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

/// Adds all of them. An option takes one argument each time it is given, even where it may be given
/// several times: the arguments after that are inputs or other options.
void add_commands(CLI::App& app, Action& action);

/// The option that says where the ledger of an output folder is.
void add_ledger_option(CLI::App& command, settings::FileChoice& ledger);

/// As app.parse() with these arguments, in their order. But an empty value (`--report=`) is
/// refused: that would take the next argument for it.
void parse(CLI::App& app, const std::vector<std::string>& arguments);

}  // namespace eckart::cli
