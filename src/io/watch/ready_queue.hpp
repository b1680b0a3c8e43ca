#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/instant.hpp"
#include "io/watch/stability_tracker.hpp"
#include "io/watch/watch_options.hpp"

namespace eckart::io {

/// The ready files of a watch and its files in flight: popped, but not yet taken by
/// take_finished(). A path is in at most one of both. After FinishStatus::environment_error a
/// backoff begins: for a while pop() returns nothing, then one file as a probe. Files that were
/// deferred before come after all others, because the cause may be in their folder alone.
/// Thread-safe; never blocks. The caller passes the time.
class ReadyQueue {
 public:
  explicit ReadyQueue(const WatchOptions& options)
      : retry_timeout_(options.retry_timeout), initial_backoff_(options.initial_backoff) {}

  // For the thread that fills the queue:
  bool has_capacity() const;
  void push(ReadyFile file);
  /// The file was changed or removed. Returns whether it is in flight; then take_finished() reports
  /// the change. If it was ready, it is removed from the queue.
  bool mark_changed(const std::string& path);
  /// Like mark_changed(), for all files below a removed folder. Returns how many were ready.
  std::size_t mark_changed_below(const std::string& folder);
  /// A scan found the file. Returns whether it is in flight, or ready with this fingerprint. If the
  /// fingerprint differs, has the effect of mark_changed().
  bool update_from_scan(const std::string& path, const FileFingerprint& fingerprint);
  struct FinishedFile {
    ReadyFile file;
    FinishStatus status = FinishStatus::done;
    bool has_changed = false;      ///< while it was in flight
    bool is_last_attempt = false;  ///< as pop() returned it
  };
  /// Returns the files finished since the last call. They count as in flight until then.
  std::vector<FinishedFile> take_finished();
  /// The time until which no file may be pushed, or nullopt if there is no backoff.
  std::optional<Instant> backoff_until(Instant now) const;
  enum class BackoffChange { none, began, ended, became_idle };
  /// The WorkFilter threw EnvironmentError. Starts a backoff as FinishStatus::environment_error
  /// does. It ends with end_filter_backoff() or a successful probe. Returns whether the call began
  /// or ended a backoff.
  BackoffChange start_filter_backoff(const std::string& why, Instant now);
  BackoffChange end_filter_backoff();
  /// Call it if no file is pending. Ends a backoff if no file is ready or in flight.
  BackoffChange end_backoff_if_idle();
  /// Removes all ready files. Files in flight are finished as usual.
  void drop_ready();

  // For the threads that empty the queue:
  struct PoppedFile {
    std::string path;
    FileFingerprint fingerprint;
    RootDirectoryPtr root;
    int attempt;  ///< since the last change, from 1
    bool is_last_attempt;
    bool needs_refill;  ///< the thread that fills the queue should wake up
  };
  std::optional<PoppedFile> pop(Instant now);
  /// When to call pop() again, if files are ready that may not be popped during a backoff.
  std::optional<Instant> retry_at() const;
  /// Returns whether the call began or ended a backoff. Ignores a path that is not in flight.
  BackoffChange finish(const std::string& path, FinishStatus status, const std::string& why,
                       Instant now);

  /// Sets the members that this class tracks.
  void fill_state(WatchState& state) const;

 private:
  struct InFlightFile {
    FinishedFile result;
    bool is_finished = false;
  };
  struct Backoff {
    std::chrono::milliseconds duration;
    Instant until;
    std::string probe;          // the path of the probe in flight; or empty
    bool is_new_probe = false;  // the probe was not deferred before
    std::string why;
    bool is_from_filter = false;
  };

  using Files = std::list<ReadyFile>;
  Files& list_of(const ReadyFile& file) { return file.deferrals > 0 ? deferred_ : ready_; }
  bool is_empty() const { return ready_.empty() && deferred_.empty(); }
  bool remove_ready(const std::string& path);
  BackoffChange start_backoff(const std::string& why, bool is_from_filter, Instant now);
  BackoffChange update_backoff(const std::string& path, FinishStatus status, const std::string& why,
                               Instant now);

  const std::chrono::milliseconds retry_timeout_, initial_backoff_;
  mutable std::mutex mutex_;
  Files ready_, deferred_;  // ready files; deferred_: those that were deferred before
  std::map<std::string, Files::iterator> by_path_;  // in ready_ and deferred_
  std::map<std::string, InFlightFile> in_flight_;
  std::vector<std::string> finished_paths_;  // keys of in_flight_
  std::optional<Backoff> backoff_;
};

}  // namespace eckart::io
