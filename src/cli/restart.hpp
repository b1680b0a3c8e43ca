#pragma once

#include <set>
#include <string>

namespace eckart::cli {

/// How many processes before this one have been replaced by the next with start_again().
int restarts();

/// The files that this process has open.
std::set<int> open_descriptors();

/// Replaces this process by a new one with the same command, which gets a GPU's context of its own;
/// `why` goes to the log. Of open files only those `given` go over. Throws FatalError(temporary)
/// where that was tried often enough, or fails.
[[noreturn]] void start_again(const std::string& why, const std::set<int>& given);

}  // namespace eckart::cli
