#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "settings/watches.hpp"

namespace eckart::app {

/// What of a watch's folders is not as it should be, now: a line for each, with the place in the
/// configuration. Nothing of it is an error, since it may be mended while the service waits.
std::vector<std::string> watch_warnings(const settings::WatchSettings& watch);

/// Whether this process may make files in this folder or, where it is not there, in the nearest
/// around it.
bool can_write_in(const std::filesystem::path& folder);

}  // namespace eckart::app
