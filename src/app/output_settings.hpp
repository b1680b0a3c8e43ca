#pragma once

#include <string>
#include <vector>

#include "settings/settings.hpp"

namespace eckart::app {

/// Returns, for each rank, the settings that affect pixels, as recorded in the ledger. The backend
/// is excluded: outputs of all backends are equivalent, and a run that lost its GPU continues on
/// the CPU.
std::vector<std::string> output_settings(const settings::Settings& settings);

}  // namespace eckart::app
