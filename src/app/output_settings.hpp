#pragma once

#include <string>
#include <vector>

#include "core/image_format.hpp"
#include "settings/settings.hpp"

namespace eckart::app {

/// Returns how outputs are encoded.
EncodeOptions encode_options(const settings::OutputSettings& output);

/// Returns pipeline::settings_text() for each rank.
std::vector<std::string> output_settings(const settings::Settings& settings);

/// Returns pipeline::settings_text() of factors in float32 of all ranks.
std::string factors_settings(const settings::Settings& settings);

}  // namespace eckart::app
