#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>

#include "app/input_disposal.hpp"
#include "app/job.hpp"
#include "app/maintenance.hpp"
#include "app/mount_guard.hpp"
#include "app/retry_backoff.hpp"
#include "app/stall_record.hpp"
#include "app/watch_figures.hpp"
#include "core/instant.hpp"
#include "files/state_folder.hpp"
#include "io/directory.hpp"
#include "io/quarantine.hpp"
#include "io/watch/watch_options.hpp"
#include "pipeline/activity.hpp"
#include "settings/watches.hpp"

namespace eckart::app {

/// One watch of the service: a Job, and the disposal of its inputs when they are finished. The
/// steps are those of Job, but an item is deferred after an environment error. Thread-safe.
class WatchedFolder {
 public:
  /// Throws FatalError(configuration), with the location of the watch, if its settings contradict
  /// each other, or if the real path of the output folder is in the input folder.
  explicit WatchedFolder(settings::WatchSettings watch);

  io::WatchOptions options() const;
  /// Returns whether the file must be processed: it is neither done nor failed in its current
  /// state. Throws EnvironmentError if the output folder is not available or another process uses
  /// it.
  bool needs_processing(const io::SourceItem& arrival, const files::FileState& state);

  void assign_outputs(pipeline::WorkItem& item);
  void load(pipeline::WorkItem& item, pipeline::LoadContext& context);
  void write(pipeline::WorkItem& item);
  /// Publishes the outputs, and then keeps, moves, deletes or quarantines the inputs. An input that
  /// cannot be moved or deleted stays until a scan finds it again.
  void publish(std::span<pipeline::ItemPtr> group);
  void record_suspects(const pipeline::InFlightBatches::Items& items);
  /// Records that a stage stalled on this input; see StallRecord.
  void record_stall(const pipeline::Activity::File& file);
  /// Call it at the end of an item, which may arrive again afterwards. Logs what became of a failed
  /// input.
  io::FinishStatus end(const pipeline::WorkItem& item);
  /// Calls Maintenance::run(), unless the file system of the output folder is unmounted. If eckart
  /// has written to the output folder before, it also locks the folder, so that no other process
  /// writes to it while the service is idle. A new folder is locked for its first file only,
  /// because a disk may be mounted there later.
  void maintain(const std::stop_token& stop, Instant now = Clock::now());
  /// Whether this process has the lock of the output folder.
  bool has_output() const;
  /// Call it after inputs were requeued.
  void on_requeued() { maintenance_.on_requeued(); }

  const settings::WatchSettings& settings() const { return watch_; }
  const WatchFigures& figures() const { return figures_; }
  io::QuarantineUsage quarantine_usage() const { return maintenance_.quarantine_usage(); }

 private:
  bool must_process(const io::SourceItem& arrival, const files::FileState& state);
  std::shared_ptr<Job> job();
  void lock_known_output();
  template <class Step>
  void attempt_or_defer(pipeline::WorkItem& item, Stage stage, const Step& step);
  void defer(pipeline::WorkItem& item, Stage stage, const EnvironmentError& error);
  void defer_if_transient(pipeline::WorkItem& item);
  InputDisposal::Result dispose_of(pipeline::WorkItem& item);
  bool is_held(const pipeline::WorkItem& item);
  bool has_inputs();
  void publish(std::span<pipeline::ItemPtr> group, Job& job);

  const settings::WatchSettings watch_;
  io::Quarantine quarantine_;
  mutable std::mutex mutex_;
  bool is_lock_failure_logged_ = false;  // in maintain()
  std::optional<io::FileId> input_id_;   // likewise; of the input folder when it was first seen
  std::shared_ptr<Job> job_;  // null until its folder is prepared, and after that folder was moved
  MountGuard output_mount_{watch_.output};
  RetryBackoff retry_backoff_;
  InputDisposal disposal_{watch_, quarantine_, retry_backoff_};
  StallRecord stall_record_{watch_.output / files::kStateFolder / "stalls"};
  Maintenance maintenance_{quarantine_, watch_.output};
  WatchFigures figures_;
};

/// Lets each watch record its own items as suspects; WorkItem::job is the index of the watch. If
/// watches fail, the others still record theirs, and then the first error is thrown.
void record_suspects(std::span<const std::unique_ptr<WatchedFolder>> folders,
                     const pipeline::InFlightBatches::Items& items);

}  // namespace eckart::app
