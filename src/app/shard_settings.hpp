#pragma once

#include <filesystem>
#include <string>
#include <vector>

// Compares the settings that processes of shards have noted in an output folder.
namespace eckart::app {

/// Returns how settings, one text for each output, differ from those that were noted last, such as
/// "rank 20 -> 7". Empty if they do not differ, or none were noted. Throws EnvironmentError.
std::string shard_settings_difference(const std::filesystem::path& output,
                                      const std::vector<std::string>& settings);

/// Returns how the settings of shards have changed, by time: "rank 20 -> 7; rank 7 -> 9". `noted`:
/// from noted_settings().
std::string describe_settings_changes(const std::vector<std::vector<std::string>>& noted);

}  // namespace eckart::app
