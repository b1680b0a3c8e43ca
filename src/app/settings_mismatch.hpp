#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "app/run.hpp"
#include "core/rank_policy.hpp"
#include "settings/watches.hpp"

namespace eckart::app {

/// Outputs that stand there and were made with other settings than those of now.
struct SettingsMismatch {
  std::map<std::string, std::int64_t> counts_by_difference{};  ///< "rank 20 -> 7": how many

  std::int64_t count() const;
  /// "rank 20 -> 7"; of several differences with the count of each.
  std::string describe() const;
};

/// Those at the places of this run's outputs. Lists the inputs where the ledger has any; nothing
/// where these can be listed only once.
SettingsMismatch find_settings_mismatch(const RunRequest& request);

/// What is to be said of those of a watch before it is started; empty where there are none. That
/// their inputs are still there is not looked at.
std::string settings_mismatch_warning(const settings::WatchSettings& watch);

}  // namespace eckart::app
