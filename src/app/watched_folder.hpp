#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>

#include "app/inputs_that_stay.hpp"
#include "app/job.hpp"
#include "app/known_device.hpp"
#include "app/stall_record.hpp"
#include "app/upkeep.hpp"
#include "core/state_folder.hpp"
#include "io/quarantine.hpp"
#include "io/watch/watch.hpp"
#include "pipeline/activity.hpp"
#include "settings/watches.hpp"
#include "telemetry/reason_note.hpp"

namespace eckart::app {

/// One watch of the service: a Job, and what becomes of its inputs at the end of their way. Its
/// steps are those of a Job, but an item that only the machine is to blame for is deferred.
/// Thread-safe.
class WatchedFolder {
 public:
  /// Throws FatalError(configuration), with the watch's place, where its settings do not fit
  /// together, or results would go to the input folder by its real path.
  explicit WatchedFolder(settings::Watch watch);

  io::WatchOptions options() const;
  /// Whether the file is work: neither done nor failed as it is. Throws EnvironmentError where the
  /// output folder cannot be had, or is another process's.
  bool wants(const io::Arrival& arrival, const FileState& state);

  void claim(WorkItem& item);
  void load(WorkItem& item, const Reserve& reserve);
  void write(WorkItem& item);
  /// Publishes, and then keeps, moves, deletes or quarantines the inputs. An input that cannot be
  /// moved or deleted stays, until a scan finds it again.
  void publish(std::span<ItemPtr> group);
  void record_lost(const InFlight::Items& items);
  /// A stage has stalled with this input; as StallRecord has it.
  void record_stall(const Activity::File& file);
  /// An item has reached its end, and may come again.
  io::Ending end(const WorkItem& item);
  /// As Upkeep::run().
  void look_after(const std::stop_token& stop);

 private:
  std::shared_ptr<Job> job();
  template <class Step>
  void attempt_or_defer(WorkItem& item, Stage stage, const Step& step);
  void postpone(WorkItem& item);
  bool dispose_of(WorkItem& item);
  bool is_held(const WorkItem& item);
  io::RootDirectoryPtr open_move_to();
  void hash(const WorkItem& item, telemetry::ReasonNote& note) const;
  void quarantine(const WorkItem& item);
  void publish(std::span<ItemPtr> group, Job& job);
  bool keeps() const { return watch_.after == "keep"; }

  const settings::Watch watch_;
  io::Quarantine quarantine_;
  std::mutex mutex_;
  std::shared_ptr<Job> job_;  // none before its folder is prepared, and where that was moved
  KnownDevice output_device_{watch_.output}, move_to_device_{watch_.move_to};
  InputsThatStay stays_;
  StallRecord stalls_{watch_.output / kStateFolder / "stalls"};
  Upkeep upkeep_{quarantine_};
};

}  // namespace eckart::app
