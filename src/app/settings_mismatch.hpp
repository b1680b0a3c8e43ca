#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "app/run.hpp"
#include "core/rank_policy.hpp"
#include "settings/watches.hpp"

namespace eckart::app {

/// Existing outputs that were made with settings other than the current ones.
struct SettingsMismatch {
  std::map<std::string, std::int64_t> counts_by_difference{};  ///< "rank 20 -> 7": how many

  std::int64_t count() const;
  /// Returns "3 outputs made with other settings (rank 20 -> 7)", or several differences with their
  /// counts.
  std::string describe() const;
};

/// Finds mismatches at the output paths of this run. Lists the inputs if the ledger has any
/// mismatch. Returns no mismatch if the inputs can be listed only once.
SettingsMismatch find_settings_mismatch(const RunRequest& request);

/// Returns a warning about the ledger of a watch before it starts: that it cannot be read, or has
/// mismatches at the output paths of the watch; empty if there are none. Does not check whether the
/// inputs still exist.
std::string ledger_warning(const settings::WatchSettings& watch);

}  // namespace eckart::app
