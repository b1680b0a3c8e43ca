#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>

#include "app/job.hpp"
#include "app/maintenance.hpp"
#include "app/mount_guard.hpp"
#include "app/retry_backoff.hpp"
#include "app/stall_record.hpp"
#include "files/state_folder.hpp"
#include "io/quarantine.hpp"
#include "io/quarantine_record.hpp"
#include "io/watch/watch_options.hpp"
#include "pipeline/activity.hpp"
#include "settings/watches.hpp"

namespace eckart::app {

/// One watch of the service: a Job, and what becomes of its inputs at the end of their way. Its
/// steps are those of a Job, but an item that only the machine is to blame for is deferred.
/// Thread-safe.
class WatchedFolder {
 public:
  /// Throws FatalError(configuration), with the watch's place, where its settings do not fit
  /// together, or results would go to the input folder by its real path.
  explicit WatchedFolder(settings::WatchSettings watch);

  io::WatchOptions options() const;
  /// Whether the file is work: neither done nor failed as it is. Throws EnvironmentError where the
  /// output folder cannot be had, or is another process's.
  bool needs_processing(const io::SourceItem& arrival, const FileState& state);

  void assign_outputs(WorkItem& item);
  void load(WorkItem& item, const ReserveBytes& reserve);
  void write(WorkItem& item);
  /// Publishes, and then keeps, moves, deletes or quarantines the inputs. An input that cannot be
  /// moved or deleted stays, until a scan finds it again.
  void publish(std::span<ItemPtr> group);
  void record_suspects(const InFlightBatches::Items& items);
  /// A stage has stalled with this input; as StallRecord has it.
  void record_stall(const Activity::File& file);
  /// An item has reached its end, and may come again.
  io::FinishStatus end(const WorkItem& item);
  /// As Maintenance::run(). Locks the output folder if eckart has written to it before, so that no
  /// other process writes to it while there is nothing to do. A new one is locked for its first
  /// file: what is there now may be the place where a disk is mounted later.
  void maintain(const std::stop_token& stop);

 private:
  std::shared_ptr<Job> job();
  void lock_known_output();
  template <class Step>
  void attempt_or_defer(WorkItem& item, Stage stage, const Step& step);
  void defer_if_transient(WorkItem& item);
  bool dispose_of_input(WorkItem& item);
  bool is_held(const WorkItem& item);
  io::RootDirectoryPtr open_move_to();
  void add_hash(const WorkItem& item, io::QuarantineRecord& note) const;
  void quarantine(const WorkItem& item);
  void publish(std::span<ItemPtr> group, Job& job);

  const settings::WatchSettings watch_;
  io::Quarantine quarantine_;
  std::mutex mutex_;
  bool is_lock_failure_logged_ = false;  // of maintain()
  std::shared_ptr<Job> job_;  // none before its folder is prepared, and where that was moved
  MountGuard output_mount_{watch_.output}, move_to_mount_{watch_.move_to};
  RetryBackoff retry_backoff_;
  StallRecord stall_record_{watch_.output / kStateFolder / "stalls"};
  Maintenance maintenance_{quarantine_};
};

}  // namespace eckart::app
