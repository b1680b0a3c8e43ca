#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "io/watch/file_observation.hpp"
#include "io/watch/instant.hpp"
#include "io/watch/watch_options.hpp"

namespace eckart::io {

/// A file that was still for long enough.
struct ReadyFile {
  std::string path;  ///< below the root
  FileFingerprint seen;
  int tries = 0;  ///< that ended with FinishStatus::incomplete, since it changed
  std::optional<Instant> first_attempt{};  ///< since it changed
  int deferrals = 0;        ///< times it has met an FinishStatus::environment, since it changed
  Instant came{};           ///< when it was first seen, since it was last done
  RootDirectoryPtr root{};  ///< of whoever takes it
};

/// The files that have changed, until they are still. Knows neither a clock nor files: is told of
/// both. Used by one thread.
class StabilityTracker {
 public:
  explicit StabilityTracker(const WatchOptions& options);

  /// An event: the file was changed, or is new. False: there is no room for it, and a scan has to
  /// find it later.
  bool changed(const std::string& path, const FileFingerprint& seen, Instant now);
  /// A scan has come by it; where it is new, it counts as still since that time. False likewise.
  bool found(const std::string& path, const FileFingerprint& seen, Instant stable_since,
             Instant now);
  /// It was tried, and is perhaps half-written: comes later, or as soon as it has changed and is
  /// still. Finds room always.
  void again(ReadyFile file, Instant now);
  /// It was not to blame: comes as if it had not been tried, but each time later, since others may
  /// find better luck. Finds room always.
  void back(ReadyFile file, Instant now);
  void forget(const std::string& path);
  /// It could not be looked at for lack of descriptors or memory: it is due again a little later.
  void postpone_check(const std::string& path, Instant now);
  /// All below a folder that has left; their count.
  std::size_t forget_below(const std::string& folder);

  /// The file that is to be looked at first, where its time has come; valid until the next change.
  const std::string* due(Instant now) const;
  /// What a look at a due file has shown. The file, if it is ready and so leaves.
  std::optional<ReadyFile> looked(const std::string& path, const FileFingerprint& seen,
                                  Instant now);

  /// When the first is due.
  std::optional<Instant> next_due() const;
  std::size_t size() const { return pending_.size(); }
  /// When the first of them came.
  std::optional<Instant> oldest() const;

 private:
  using QueueKey = std::pair<Instant, std::uint64_t>;  // when it is due; first come, first served
  struct Entry {
    ReadyFile file;  // but for its path, which is the key
    Instant stable_since, not_before;
    QueueKey queue_key;
  };
  using PendingFiles = std::map<std::string, Entry>;  // in order, for forget_below()
  using PendingNode = PendingFiles::value_type;       // stays where it is

  bool has_capacity() const { return pending_.size() < max_pending_; }
  void insert(ReadyFile file, Instant stable_since, Instant not_before);
  void restart_wait(PendingNode& known, const FileFingerprint& seen, Instant now);
  void queue(PendingNode& known);

  const std::chrono::milliseconds settle_time_, retry_timeout_, backoff_step_;
  const std::size_t max_pending_;
  PendingFiles pending_;
  std::map<QueueKey, PendingNode*> queue_;
  std::multiset<Instant> first_seen_times_;  // of each
  std::uint64_t next_sequence_ = 0;
};

}  // namespace eckart::io
