#pragma once

#include <string>
#include <string_view>

namespace eckart {

/// What becomes of a result that stands there and was made with other settings from the same input.
enum class OnSettingsChange {
  refuse,     ///< it is in the way
  keep,       ///< it stays, and counts as done
  reprocess,  ///< it is made again
};

/// What differs between two texts of settings, as the ledger has them ("png, solver auto, rank
/// 20"): "rank 20 -> 7". `before` may be empty: it is not known then.
std::string settings_difference(std::string_view before, std::string_view now);

}  // namespace eckart
