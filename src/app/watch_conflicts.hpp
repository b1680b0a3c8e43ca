#pragma once

#include <vector>

#include "settings/watches.hpp"

namespace eckart::app {

/// Throws FatalError(configuration) if the folders of watches conflict: if output folders overlap,
/// if a watch removes the inputs of another, or if outputs would become inputs again.
void check_watch_conflicts(const std::vector<settings::WatchSettings>& watches);

}  // namespace eckart::app
