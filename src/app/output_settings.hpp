#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/image_format.hpp"
#include "io/output_tree.hpp"
#include "settings/settings.hpp"

namespace eckart::app {

/// Returns how outputs are encoded.
EncodeOptions encode_options(const settings::OutputSettings& output);

/// Returns how outputs below `root` are named; nullopt if no files are written. Throws as the
/// constructor of OutputTree.
std::optional<io::OutputTree> make_output_tree(const settings::Settings& settings,
                                               const std::filesystem::path& root);

/// Returns pipeline::settings_text() for each output, in the order of the output tree.
std::vector<std::string> output_settings(const settings::Settings& settings);

/// Returns pipeline::settings_text() of factors in float32 of all ranks.
std::string factors_settings(const settings::Settings& settings);

}  // namespace eckart::app
