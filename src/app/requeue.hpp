#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace eckart::app {

/// What became of one input in the quarantine.
struct RequeueResult {
  std::filesystem::path input;
  std::string error;  ///< empty: it will be tried again
};

/// Puts inputs back to where they came from, and has a service look there for those that have
/// stayed. `names`: their names or paths, or places in the quarantine; none: all. Throws
/// FatalError(no_input) where one of them is not there, or `output` is no output folder.
std::vector<RequeueResult> requeue(const std::filesystem::path& output,
                                   const std::vector<std::string>& names);

/// Whether requeue() was called since the last call.
bool consume_requeue_marker(const std::filesystem::path& output);

}  // namespace eckart::app
