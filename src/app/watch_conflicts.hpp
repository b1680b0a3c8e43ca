#pragma once

#include <vector>

#include "io/own_folders.hpp"
#include "settings/watches.hpp"

namespace eckart::app {

/// Throws FatalError(configuration) if the folders of watches conflict: if output folders overlap,
/// if a watch removes the inputs of another, or if outputs would become inputs again.
void check_watch_conflicts(const std::vector<settings::WatchSettings>& watches);

/// For each watch, the output folders of all watches, and those for moved inputs, that are not
/// scanned as inputs of this watch by their own paths. They would end or begin a loop if a link or
/// mount led there.
std::vector<io::OwnFolders> own_folders_of(const std::vector<settings::WatchSettings>& watches);

}  // namespace eckart::app
