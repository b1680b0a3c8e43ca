#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "settings/choices.hpp"

namespace eckart::app {

/// A result whose input is gone.
struct Orphan {
  std::string output;  ///< relative to the output folder
  std::string input;   ///< absolute path
};

struct Orphans {
  std::vector<Orphan> removable;  ///< by name; those that may be removed
  std::int64_t modified = 0;      ///< results that are not as they were written; they stay
  std::int64_t without_mtime =
      0;  ///< results of a version that recorded no times of them; they stay
  /// How many stay because nobody can tell whether their inputs are gone: a disk may not be
  /// mounted, or they may lie in another folder that the ledger knows. By the input folder.
  std::map<std::string, std::int64_t> uncertain;
};

struct PruneRequest {
  std::filesystem::path output;
  settings::FileChoice ledger;
  /// Also where the folder of an input has none of its inputs any more, or is gone itself in an
  /// input folder that is there.
  bool include_empty = false;
};

/// Results in the output folder that the ledger knows, and whose inputs are gone from a folder that
/// has others of its inputs. Not those of a service that takes inputs away, and not those of inputs
/// that have failed. Looks at every input. Throws FatalError(no_input) where there is no ledger.
Orphans find_orphans(const PruneRequest& request);

/// Removes them, each if that is still true, and what the ledger knows of them. Calls `on_removed`
/// for each. Follows no link below the output folder. Throws FatalError(temporary) where a run or a
/// service writes there.
void prune(const PruneRequest& request,
           const std::function<void(const Orphan& orphan)>& on_removed);

}  // namespace eckart::app
