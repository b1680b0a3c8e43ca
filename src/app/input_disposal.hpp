#pragma once

#include <filesystem>
#include <mutex>
#include <stdexcept>
#include <string>
#include <unordered_set>

#include "app/mount_guard.hpp"
#include "app/retry_backoff.hpp"
#include "io/quarantine.hpp"
#include "io/quarantine_record.hpp"
#include "io/root_directory.hpp"
#include "io/root_path.hpp"
#include "pipeline/work_item.hpp"
#include "settings/watches.hpp"

namespace eckart::app {

/// Keeps, moves or deletes the inputs of a watch that are done, and quarantines those that failed.
/// Thread-safe.
class InputDisposal {
 public:
  enum class Result {
    kept,
    removed,      ///< moved or deleted, because it is done
    replaced,     ///< not removed: it is not the file that was read
    quarantined,  ///< the quarantine has a new file or record
  };
  struct Disposal {
    Result result = Result::kept;
    std::string message{};  ///< what became of a failed input, for the log; may be empty
  };

  /// All arguments must outlive the object. `backoff` gets inputs that cannot be moved or deleted.
  InputDisposal(const settings::WatchSettings& watch, io::Quarantine& quarantine,
                RetryBackoff& backoff);

  /// Disposes of the input of a finished item. Keeps a file that has replaced the input. An input
  /// that cannot be moved or deleted is kept, and not due for a while. Throws EnvironmentError.
  Disposal dispose_of(const pipeline::WorkItem& item);

  /// Records the file system of the folder for done inputs, if the folder exists.
  void record_move_to() { move_to_mount_.record_device(); }
  /// Throws EnvironmentError if that folder is missing or on another file system.
  void check_move_to() const { move_to_mount_.check_exists(); }

 private:
  Result dispose_of_done(const pipeline::WorkItem& item);
  bool may_have_been_written_to(const pipeline::WorkItem& item);
  std::string quarantine(const pipeline::WorkItem& item);
  std::string keep_failed(const pipeline::WorkItem& item, const std::string& record,
                          const std::string& explanation);
  std::string keep_and_delay(const pipeline::WorkItem& item, const std::string& record,
                             const std::runtime_error& error);
  io::RootDirectoryPtr open_move_to();
  void add_hash(const pipeline::WorkItem& item, io::QuarantineRecord& record) const;

  const settings::WatchSettings& watch_;
  io::Quarantine& quarantine_;
  RetryBackoff& retry_backoff_;
  const io::RootPath move_to_path_;
  MountGuard move_to_mount_;
  std::mutex mutex_;
  std::unordered_set<std::string> changed_ctimes_;  // paths of inputs that are processed again
};

}  // namespace eckart::app
