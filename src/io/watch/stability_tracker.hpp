#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "core/instant.hpp"
#include "io/watch/file_observation.hpp"
#include "io/watch/watch_options.hpp"

namespace eckart::io {

/// A file that was unchanged for the settle time.
struct ReadyFile {
  std::string path;  ///< relative to the root
  FileFingerprint fingerprint;
  int incomplete_attempts = 0;  ///< attempts with FinishStatus::incomplete, since the last change
  std::optional<Instant> first_attempt_at{};  ///< since the last change
  int deferrals = 0;        ///< FinishStatus::environment_error, since the last change
  Instant arrived_at{};     ///< when the file was first seen since it was last finished
  RootDirectoryPtr root{};  ///< set when the file is pushed to the ReadyQueue
};

/// Pending files: they have changed, or wait for another attempt. The caller passes the time and
/// the fingerprints. Used by one thread.
class StabilityTracker {
 public:
  explicit StabilityTracker(const WatchOptions& options);

  /// An event reported that the file is new or changed. Returns false if the tracker is full; then
  /// a later scan must find the file.
  bool add_changed(const std::string& path, const FileFingerprint& fingerprint, Instant now);
  /// A scan found the file. A new file counts as unchanged since `stable_since`. Returns false if
  /// the tracker is full.
  bool add_scanned(const std::string& path, const FileFingerprint& fingerprint,
                   Instant stable_since, Instant now);
  /// The file may be incomplete. It is due again after a backoff, or when it has changed and then
  /// was unchanged for the settle time. Ignores max_pending.
  void add_incomplete(ReadyFile file, Instant now);
  /// An environment error occurred, so the attempt does not count. The file is due again after a
  /// backoff that grows each time, so that other files are tried first. Ignores max_pending.
  void add_deferred(ReadyFile file, Instant now);
  void remove(const std::string& path);
  /// The file could not be examined because file descriptors or memory ran out. It is due again
  /// later.
  void postpone_check(const std::string& path, Instant now);
  /// Removes all files below a removed folder. Returns their number.
  std::size_t remove_below(const std::string& folder);

  /// Returns the path of the first due file, or nullptr. Valid until the next change.
  const std::string* due_path(Instant now) const;
  /// Reports the fingerprint of a due file. If it is unchanged, the file is ready: it is removed
  /// and returned.
  std::optional<ReadyFile> take_if_stable(const std::string& path,
                                          const FileFingerprint& fingerprint, Instant now);

  /// When the first file is due.
  std::optional<Instant> next_due() const;
  std::size_t size() const { return pending_.size(); }
  /// When the oldest pending file arrived.
  std::optional<Instant> oldest_arrival() const;

 private:
  using QueueKey = std::pair<Instant, std::uint64_t>;  // due time; then order of insertion
  struct Entry {
    ReadyFile file;  // its path is empty, because it is the key
    Instant stable_since, not_before;
    QueueKey queue_key;
  };
  using PendingFiles = std::map<std::string, Entry>;  // ordered, for remove_below()
  using PendingNode = PendingFiles::value_type;       // has a stable address

  bool has_capacity() const { return pending_.size() < max_pending_; }
  void insert(ReadyFile file, Instant stable_since, Instant not_before);
  void restart_settle_time(PendingNode& node, const FileFingerprint& fingerprint, Instant now);
  void schedule(PendingNode& node);

  const std::chrono::milliseconds settle_time_, retry_timeout_, initial_backoff_;
  const std::size_t max_pending_;
  PendingFiles pending_;
  std::map<QueueKey, PendingNode*> queue_;
  std::multiset<Instant> arrival_times_;  // ReadyFile::arrived_at of each file
  std::uint64_t next_sequence_ = 0;
};

}  // namespace eckart::io
