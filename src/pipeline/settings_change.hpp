#pragma once

#include <string>
#include <string_view>

namespace eckart::pipeline {

/// How to treat an existing output that was made from the same input with other settings.
enum class OnSettingsChange {
  refuse,     ///< report an output collision
  keep,       ///< keep the output as done
  reprocess,  ///< make the output again
};

/// Describes the difference of two settings texts in the format of the ledger ("png, solver auto,
/// rank 20"), such as "rank 20 -> 7". If the old settings are unknown, `before` is empty.
std::string settings_difference(std::string_view before, std::string_view now);

}  // namespace eckart::pipeline
