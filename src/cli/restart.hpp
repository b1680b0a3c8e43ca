#pragma once

#include <cstdint>
#include <set>
#include <string>

namespace eckart::cli {

/// What start_again() has told this process.
struct Restarted {
  int times = 0;         ///< processes before this one that were replaced by the next
  std::int64_t run = 0;  ///< the ledger's number of the run that the first of them began
};
Restarted restarted();

/// The files that this process has open.
std::set<int> open_descriptors();

/// Replaces this process by a new one with the same command, which gets a GPU's context of its own;
/// `why` goes to the log, `run` to the new one. Of open files only those `given` go over. Throws
/// FatalError(temporary) where that was tried often enough, or fails.
[[noreturn]] void start_again(const std::string& why, std::int64_t run, const std::set<int>& given);

}  // namespace eckart::cli
