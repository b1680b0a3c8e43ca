#pragma once

#include "app/watched_folder.hpp"
#include "io/watch/watch_options.hpp"
#include "status_server/watch_status.hpp"

namespace eckart::app {

/// Returns the status of a watch. `state` is that of its source.
status_server::WatchStatus watch_status(const WatchedFolder& folder, const io::WatchState& state);

}  // namespace eckart::app
