#pragma once

#include "app/watched_folder.hpp"
#include "core/error.hpp"
#include "io/watch/watch_options.hpp"
#include "status_server/watch_status.hpp"

namespace eckart::app {

/// `last_remedy`: of the last environment error of the watch.
status_server::WatchCondition watch_condition(const io::WatchState& state,
                                              EnvironmentError::Remedy last_remedy);

/// Returns the status of a watch. `state` is that of its source.
status_server::WatchStatus watch_status(const WatchedFolder& folder, const io::WatchState& state);

}  // namespace eckart::app
