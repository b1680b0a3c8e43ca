#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <unordered_set>
#include <vector>

#include "app/job.hpp"
#include "io/quarantine.hpp"
#include "io/watch/watch.hpp"
#include "settings/watches.hpp"

namespace eckart::app {

/// One watch of the service: a Job, and what becomes of its inputs at the end of their way. Its
/// steps are those of a Job, but an item that only the machine is to blame for is deferred.
/// Thread-safe.
class WatchedFolder {
 public:
  /// Throws FatalError(usage) where results would go to the input folder by its real path, and as
  /// Job does.
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
  /// An item has reached its end, and may come again.
  io::Ending end(const WorkItem& item);
  /// To be called every second or so, by one thread: keeps the quarantine within its limits, and
  /// what the ledger knows to the outputs that are still there. Soon after `stop` it returns.
  void look_after(const std::stop_token& stop);
  /// Why the input or the output cannot be had as it is; empty where they can.
  std::vector<std::string> remarks() const;

 private:
  std::shared_ptr<Job> job();
  void check_device();
  template <class Step>
  void attempt_or_defer(WorkItem& item, Stage stage, const Step& step);
  void postpone(WorkItem& item);
  bool dispose_of(WorkItem& item);
  void quarantine(const WorkItem& item);
  void publish(std::span<ItemPtr> group, Job& job);
  void tell_stays(const WorkItem& item, const std::string& why);
  void forget_told(const WorkItem& item);
  std::shared_ptr<Job> present_job();
  void sweep_quarantine();
  void forget_gone(const std::stop_token& stop);
  bool keeps() const { return watch_.after == "keep"; }

  const settings::Watch watch_;
  io::Quarantine quarantine_;
  std::mutex mutex_;
  std::shared_ptr<Job> job_;     // none before its folder is prepared, and where that was moved
  std::optional<dev_t> device_;  // of the folder, once it was prepared
  std::unordered_set<std::string> stays_;     // inputs of which was told that they stay
  std::atomic<bool> has_quarantined_{false};  // since the last sweep
  // Of the thread that looks after it:
  std::chrono::steady_clock::time_point swept_{}, began_to_forget_{};
  std::chrono::steady_clock::duration sweep_took_{};
  std::optional<std::string> looked_at_;  // by forget_gone(), which is not at its end
};

}  // namespace eckart::app
