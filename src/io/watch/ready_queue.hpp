#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "io/watch/instant.hpp"
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
      : retry_timeout_(options.retry_timeout), backoff_step_(options.backoff) {}

  // For the thread that fills the queue:
  bool has_capacity() const;
  void put(ReadyFile file);
  /// The file was changed or removed. Returns whether it is in flight; then take_finished() reports
  /// the change. If it was ready, it is removed from the queue.
  bool changed(const std::string& path);
  /// Like mark_changed(), for all files below a removed folder. Returns how many were ready.
  std::size_t mark_changed_below(const std::string& folder);
  /// A scan found the file. Returns whether it is in flight, or ready with this fingerprint. If the
  /// fingerprint differs, has the effect of mark_changed().
  bool has(const std::string& path, const FileFingerprint& seen);
  struct FinishedFile {
    ReadyFile file;
    FinishStatus ending = FinishStatus::settled;
    bool changed = false;          ///< while it was in flight
    bool is_last_attempt = false;  ///< as pop() returned it
  };
  /// Returns the files finished since the last call. They count as in flight until then.
  std::vector<FinishedFile> returned();
  /// The time until which no file may be pushed, or nullopt if there is no backoff.
  std::optional<Instant> backoff_until(Instant now) const;
  enum class BackoffChange { none, began, ended, became_idle };
  /// The WorkFilter threw EnvironmentError. Starts a backoff as FinishStatus::environment_error
  /// does. It ends with end_filter_backoff() or a successful probe. Returns whether the call began
  /// or ended a backoff.
  BackoffChange refused(const std::string& why, Instant now);
  BackoffChange answered();
  /// Call it if no file is pending. Ends a backoff if no file is ready or in flight.
  BackoffChange end_backoff_if_idle();
  /// Removes all ready files. Files in flight are finished as usual.
  void drop_ready();

  // For the threads that empty the queue:
  struct PoppedFile {
    std::string path;
    FileFingerprint seen;
    RootDirectoryPtr root;
    bool is_last_attempt;
    bool needs_refill;  ///< the thread that fills the queue should wake up
  };
  std::optional<PoppedFile> take(Instant now);
  /// When to call pop() again, if files are ready that may not be popped during a backoff.
  std::optional<Instant> retry_at() const;
  /// Returns whether the call began or ended a backoff. Ignores a path that is not in flight.
  BackoffChange finished(const std::string& path, FinishStatus ending, const std::string& why,
                         Instant now);

  /// Sets the members that this class tracks.
  void fill_state(WatchState& state) const;

 private:
  struct InFlightFile {
    FinishedFile back;
    bool finished = false;
  };
  struct Backoff {
    std::chrono::milliseconds wait;
    Instant until;
    std::string probe;          // the path of the probe in flight; or empty
    bool is_new_probe = false;  // the probe was not deferred before
    std::string why;
    bool refused = false;
  };

  using Files = std::list<ReadyFile>;
  Files& list_of(const ReadyFile& file) { return file.deferrals > 0 ? deferred_ : ready_; }
  bool is_empty() const { return ready_.empty() && deferred_.empty(); }
  bool remove_ready(const std::string& path);
  BackoffChange hold(const std::string& why, bool refused, Instant now);
  BackoffChange update_backoff(const std::string& path, FinishStatus ending, const std::string& why,
                               Instant now);

  const std::chrono::milliseconds retry_timeout_, backoff_step_;
  mutable std::mutex mutex_;
  Files ready_, deferred_;  // ready files; deferred_: those that were deferred before
  std::map<std::string, Files::iterator> by_path_;  // in ready_ and deferred_
  std::map<std::string, InFlightFile> in_flight_;
  std::vector<std::string> finished_paths_;  // keys of in_flight_
  std::optional<Backoff> backoff_;
};

}  // namespace eckart::io
