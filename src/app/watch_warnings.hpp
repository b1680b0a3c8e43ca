#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "settings/watches.hpp"

namespace eckart::app {

/// Checks the folders of a watch. Returns one line for each problem, with its location in the
/// configuration. These problems are not errors, because they may be repaired while the service
/// waits.
std::vector<std::string> watch_warnings(const settings::WatchSettings& watch);

/// Returns whether this process can create files in this folder or, if it does not exist, in its
/// nearest existing parent.
bool can_write_in(const std::filesystem::path& folder);

}  // namespace eckart::app
