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
struct MadeWithOther {
  std::map<std::string, std::int64_t> by_difference{};  ///< "rank 20 -> 7": how many

  std::int64_t count() const;
  /// "rank 20 -> 7"; of several differences with the count of each.
  std::string difference() const;
};

/// Those at the places of this run's outputs. Lists the inputs where the ledger has any; nothing
/// where these can be listed only once.
MadeWithOther find_made_with_other(const RunRequest& request);

/// What is to be said of those of a watch before it is started; empty where there are none. That
/// their inputs are still there is not looked at.
std::string remark_on_made_with_other(const settings::Watch& watch);

}  // namespace eckart::app
