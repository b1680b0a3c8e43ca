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

/// A watch's files that are ready, and those in flight: taken, and not yet finished. No file is
/// both, or either twice. After an FinishStatus::environment it holds back: for a while nothing is
/// taken, then one file as a probe. Files that have met one already come after all others: it may
/// be their folder alone that fails. Any thread may call it, and none waits; knows no clock.
class ReadyQueue {
 public:
  explicit ReadyQueue(const WatchOptions& options)
      : retry_timeout_(options.retry_timeout), backoff_step_(options.backoff) {}

  // Of the thread that fills it:
  bool has_capacity() const;
  void put(ReadyFile file);
  /// A file was changed, or is gone. Whether it is in flight, and so comes back later; where it was
  /// ready, it is so no more.
  bool changed(const std::string& path);
  /// As changed(), for all below a folder that has left; how many were ready.
  std::size_t mark_changed_below(const std::string& folder);
  /// A scan has come by it: whether it is ready or in flight as it looks now. Else as changed().
  bool has(const std::string& path, const FileFingerprint& seen);
  struct FinishedFile {
    ReadyFile file;
    FinishStatus ending = FinishStatus::settled;
    bool changed = false;          ///< while it was in flight
    bool is_last_attempt = false;  ///< as it was taken
  };
  /// What was finished since the last call; it counts as in flight until then.
  std::vector<FinishedFile> returned();
  /// Until when nothing more is to be put in; nothing where it may be.
  std::optional<Instant> backoff_until(Instant now) const;
  enum class BackoffChange { none, began, ended, became_idle };
  /// Whether a file is work could not be said, as WorkFilter has it: holds back as after
  /// FinishStatus::environment, and until answered(), or a probe, at most. BackoffChange: where
  /// this begins or ends the holding back.
  BackoffChange refused(const std::string& why, Instant now);
  BackoffChange answered();
  /// There are no more files that settle. Ends the holding back where none are ready or in flight.
  BackoffChange end_backoff_if_idle();
  /// Nothing is ready any more. What is in flight still comes back.
  void drop_ready();

  // Of those who empty it:
  struct PoppedFile {
    std::string path;
    FileFingerprint seen;
    RootDirectoryPtr root;
    bool is_last_attempt;
    bool needs_refill;  ///< worth telling the thread that fills it
  };
  std::optional<PoppedFile> take(Instant now);
  /// When to ask again, where files are ready that may not be taken.
  std::optional<Instant> retry_at() const;
  /// BackoffChange as in refused(). What was not taken is passed over.
  BackoffChange finished(const std::string& path, FinishStatus ending, const std::string& why,
                         Instant now);

  /// Fills in what it knows of it.
  void fill_state(WatchState& state) const;

 private:
  struct InFlightFile {
    FinishedFile back;
    bool finished = false;
  };
  struct Backoff {
    std::chrono::milliseconds wait;
    Instant until;
    std::string probe;          // in flight; or empty
    bool is_new_probe = false;  // which had not met an FinishStatus::environment before
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
  Files ready_, deferred_;  // ready both; the second are those that were deferred before
  std::map<std::string, Files::iterator> by_path_;  // in either
  std::map<std::string, InFlightFile> in_flight_;
  std::vector<std::string> finished_paths_;  // the names of those in flight that are
  std::optional<Backoff> backoff_;
};

}  // namespace eckart::io
