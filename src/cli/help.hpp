#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "core/error.hpp"

namespace eckart::cli {

struct Example {
  std::string purpose;  ///< "Three ranks from one decomposition"
  std::string command;  ///< "eckart run photos -o out --rank 5,20,50"
};

/// What --help says about a command besides its options.
struct CommandHelp {
  std::vector<std::string> usage;  ///< without "eckart NAME": "INPUT... -o FOLDER"
  std::vector<Example> examples;
  std::vector<ExitCode> exit_codes;
};

/// The exit codes of commands that read the ledger of an output folder.
inline const std::vector<ExitCode> kLedgerExitCodes = {
    ExitCode::ok,       ExitCode::usage,     ExitCode::nothing_readable, ExitCode::no_input,
    ExitCode::io_error, ExitCode::temporary, ExitCode::no_permission,    ExitCode::configuration};

/// Makes --help print this, together with the options by group. A value name is the type name of an
/// option, and a validator with a description in braces lists the values.
void describe(CLI::App& command, CommandHelp help);

/// The same for the program: its commands by group.
void describe_program(CLI::App& program);

/// Returns what an exit code means: "some inputs failed".
const char* exit_code_text(ExitCode code);

}  // namespace eckart::cli
