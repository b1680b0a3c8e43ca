#include "app/watch_status.hpp"

namespace eckart::app {
namespace {

using status_server::WatchCondition;
using Remedy = EnvironmentError::Remedy;

std::string reason_of(WatchCondition condition, const io::WatchState& state) {
  if (condition == WatchCondition::cannot_read_folder)
    return "the input folder cannot be read: " + state.root_error;
  if (condition == WatchCondition::waiting_for_folder) return "the input folder is missing";
  return state.backoff_reason;
}

}  // namespace

WatchCondition watch_condition(const io::WatchState& state, Remedy last_remedy) {
  if (!state.root_error.empty()) return WatchCondition::cannot_read_folder;
  if (!state.is_root_present) return WatchCondition::waiting_for_folder;
  if (state.backoff_reason.empty()) return WatchCondition::watching;
  if (last_remedy == Remedy::free_disk_space) return WatchCondition::waiting_for_space;
  return last_remedy == Remedy::mount ? WatchCondition::waiting_for_mount : WatchCondition::paused;
}

status_server::WatchStatus watch_status(const WatchedFolder& folder, const io::WatchState& state) {
  const settings::WatchSettings& watch = folder.settings();
  const WatchFigures& figures = folder.figures();
  const io::QuarantineUsage quarantine = folder.quarantine_usage();
  status_server::WatchStatus status;
  status.name = watch.name;
  status.input = watch.input.native();
  status.output = watch.output.native();
  status.condition = watch_condition(state, figures.last_remedy());
  status.reason = reason_of(status.condition, state);
  status.done = figures.done();
  status.failed = figures.failed();
  status.skipped = figures.skipped();
  status.waiting = std::int64_t(state.pending + state.ready);
  status.unfinished = status.waiting + std::int64_t(state.in_flight);
  status.quarantine_files = quarantine.files;
  status.quarantine_bytes = quarantine.bytes;
  status.not_read = state.unread_files.by_extension();
  status.not_read_total = state.unread_total;
  if (figures.free_bytes() >= 0) status.free_bytes = figures.free_bytes();
  return status;
}

}  // namespace eckart::app
