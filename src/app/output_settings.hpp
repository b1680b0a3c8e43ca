#pragma once

#include <string>
#include <vector>

#include "settings/settings.hpp"

namespace eckart::app {

/// Returns pipeline::settings_text() for each rank.
std::vector<std::string> output_settings(const settings::Settings& settings);

}  // namespace eckart::app
