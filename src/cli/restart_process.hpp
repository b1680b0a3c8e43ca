#pragma once

#include <cstdint>
#include <set>
#include <string>

namespace eckart::cli {

/// What restart_process() has told this process.
struct RestartInfo {
  int count = 0;                ///< processes before this one that were replaced by the next
  std::int64_t run_number = 0;  ///< the ledger's number of the run that the first of them began
};
RestartInfo restart_info();

/// The files that this process has open.
std::set<int> open_descriptors();

/// Replaces this process by a new one with the same command, which gets a GPU's context of its own;
/// `why` goes to the log, `run` to the new one. Of open files only those `given` go over. Throws
/// FatalError(temporary) where that was tried often enough, or fails.
[[noreturn]] void restart_process(const std::string& why, std::int64_t run_number,
                                  const std::set<int>& inherited);

}  // namespace eckart::cli
