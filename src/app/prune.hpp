#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "settings/choices.hpp"

namespace eckart::app {

/// An output whose input no longer exists.
struct Orphan {
  std::string output;  ///< relative to the output folder
  std::string input;   ///< absolute path
};

struct Orphans {
  std::vector<Orphan> removable;   ///< outputs that may be removed, ordered by name
  std::vector<Orphan> modified;    ///< outputs modified after they were written; kept, by name
  std::int64_t without_mtime = 0;  ///< outputs of versions that recorded no output times; kept
  /// Number of outputs that are kept because it is uncertain whether their inputs still exist, by
  /// input folder. A disk may not be mounted, or an input may be in another input folder of the
  /// ledger.
  std::map<std::string, std::int64_t> uncertain;
};

struct PruneRequest {
  std::filesystem::path output;
  settings::FileChoice ledger;
  /// Also remove outputs if the folder of their inputs has no recorded input any more, or is
  /// missing in an existing input folder.
  bool include_empty = false;
};

/// Finds recorded outputs in the output folder whose inputs are gone from a folder that still
/// contains other recorded inputs. Excludes outputs of a service that removes its inputs, and
/// outputs of failed inputs. Checks every input. Throws FatalError(no_input) if there is no ledger.
Orphans find_orphans(const PruneRequest& request);

/// Says why outputs of the input folder `root` are kept as uncertain, and what to do.
std::string uncertain_orphans_text(const std::string& root, bool include_empty);

/// Finds the orphans, checks each again, and removes the file and its ledger entry. Calls
/// `on_removed` for each. Returns what it found. Follows no link below the output folder. Throws
/// FatalError(temporary) if a run or a service writes there.
Orphans prune(const PruneRequest& request,
              const std::function<void(const Orphan& orphan)>& on_removed);

}  // namespace eckart::app
