#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace eckart::app {

/// The result of requeueing one quarantined input.
struct RequeueResult {
  std::filesystem::path input;
  std::string error;  ///< empty if the input will be tried again
};

/// Moves quarantined inputs back to their original paths, and makes a service retry inputs that
/// were kept in place. `names` are file names, input paths or paths in the quarantine; empty means
/// all, except files that a later file of the same path has superseded: its outputs are in the
/// folder's own ledger. Throws FatalError: no_input if a name is not found or `output` is not an
/// output folder, cannot_create if the service cannot be told.
std::vector<RequeueResult> requeue(const std::filesystem::path& output,
                                   const std::vector<std::string>& names);

/// Returns the shell command that calls requeue() for the output folder, and for one of its names
/// if `name` is not empty.
std::string requeue_command(const std::filesystem::path& output,
                            const std::filesystem::path& name = {});

/// Returns whether requeue() was called since the last call.
bool consume_requeue_marker(const std::filesystem::path& output);

}  // namespace eckart::app
