#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace eckart::app {

/// A result whose input is gone.
struct Orphan {
  std::string output;  ///< relative to the output folder
  std::string input;   ///< absolute path
};

struct Orphans {
  std::vector<Orphan> results;  ///< by name; those that may be removed
  std::int64_t changed = 0;     ///< results that are not as they were written; they stay
  /// How many stay because nobody can tell whether their inputs are gone or a disk is not mounted,
  /// by the input folder.
  std::map<std::string, std::int64_t> held_back;
};

struct PruneRequest {
  std::filesystem::path output;
  std::string ledger = "auto";  ///< as the setting
  /// Also where an input folder is empty, or has none of its inputs any more.
  bool include_empty = false;
};

/// Results in the output folder that the ledger knows, and whose inputs are gone. Not those of a
/// service that takes inputs away, and not those of inputs that have failed. Looks at every input.
/// Throws FatalError(no_input) where there is no ledger.
Orphans find_orphans(const PruneRequest& request);

/// Removes them, each if that is still true, and what the ledger knows of them. Calls `on_removed`
/// for each. Follows no link below the output folder. Throws FatalError(temporary) where a run or a
/// service writes there.
void prune(const PruneRequest& request,
           const std::function<void(const Orphan& orphan)>& on_removed);

}  // namespace eckart::app
