#pragma once

#include <cstdint>
#include <set>
#include <string>

namespace eckart::cli {

/// Information that restart_process() passed to this process.
struct RestartInfo {
  int count = 0;                ///< number of restarts so far
  std::int64_t run_number = 0;  ///< ledger number of the run, from the first process
};
RestartInfo restart_info();

/// Returns the open file descriptors of this process.
std::set<int> open_descriptors();

/// Replaces this process by a new one with the same command and a new GPU context. Logs `why`, and
/// passes `run_number` to the new process. Only the descriptors in `inherited` stay open. Throws
/// FatalError(temporary) if this fails or the maximum number of restarts is reached.
[[noreturn]] void restart_process(const std::string& why, std::int64_t run_number,
                                  const std::set<int>& inherited);

}  // namespace eckart::cli
