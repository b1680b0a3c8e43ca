#pragma once

#include <string>
#include <vector>

namespace eckart::cluster {

/// How a command ended, and what it printed.
struct CommandResult {
  int code = 0;  ///< exit code, or 128 + signal
  std::string out, err;
};

/// Runs a program, which is searched in PATH, without stdin, and waits for it. Throws
/// FatalError(unavailable) if there is no such program, std::system_error if it cannot be started.
CommandResult run_command(const std::vector<std::string>& arguments);

}  // namespace eckart::cluster
