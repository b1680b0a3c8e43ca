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
#include "io/watch/settling.hpp"
#include "io/watch/watch.hpp"

namespace eckart::io {

/// A watch's files that are ready, and those in flight: taken, and not yet finished. No file is
/// both, or either twice. After an Ending::environment it holds back: for a while nothing is taken,
/// then one file as a probe. Files that have met one already come after all others: it may be their
/// folder alone that fails. Any thread may call it, and none waits; knows no clock.
class Handout {
 public:
  explicit Handout(const WatchOptions& options)
      : patience_(options.patience), back_off_(options.back_off) {}

  // Of the thread that fills it:
  bool has_room() const;
  void put(ReadyFile file);
  /// A file was changed, or is gone. Whether it is in flight, and so comes back later; where it was
  /// ready, it is so no more.
  bool changed(const std::string& path);
  /// As changed(), for all below a folder that has left; how many were ready.
  std::size_t changed_below(const std::string& folder);
  /// A scan has come by it: whether it is ready or in flight as it looks now. Else as changed().
  bool has(const std::string& path, const Seen& seen);
  struct Returned {
    ReadyFile file;
    Ending ending = Ending::settled;
    bool changed = false;   ///< while it was in flight
    bool last_try = false;  ///< as it was taken
  };
  /// What was finished since the last call; it counts as in flight until then.
  std::vector<Returned> returned();
  /// Until when nothing more is to be put in; nothing where it may be.
  std::optional<Instant> holds_until(Instant now) const;
  enum class News { none, holds_back, goes_on, nothing_waits };
  /// Whether a file is work could not be said, as Wants has it: holds back as after
  /// Ending::environment, and until answered(), or a probe, at most. News: where this begins or
  /// ends the holding back.
  News refused(const std::string& why, Instant now);
  News answered();
  /// There are no more files that settle. Ends the holding back where none are ready or in flight.
  News nothing_settles();
  /// Nothing is ready any more. What is in flight still comes back.
  void drop_ready();

  // Of those who empty it:
  struct Taken {
    std::string path;
    Seen seen;
    RootDirectoryPtr root;
    bool last_try;
    bool makes_room;  ///< worth telling the thread that fills it
  };
  std::optional<Taken> take(Instant now);
  /// When to ask again, where files are ready that may not be taken.
  std::optional<Instant> held_until() const;
  /// News as in refused(). What was not taken is passed over.
  News finished(const std::string& path, Ending ending, const std::string& why, Instant now);

  /// Fills in what it knows of it.
  void describe(WatchState& state) const;

 private:
  struct Flight {
    Returned back;
    bool finished = false;
  };
  struct Hold {
    std::chrono::milliseconds wait;
    Instant until;
    std::string probe;          // in flight; or empty
    bool is_new_probe = false;  // which had not met an Ending::environment before
    std::string why;
    bool refused = false;
  };

  using Files = std::list<ReadyFile>;
  Files& list_of(const ReadyFile& file) { return file.deferrals > 0 ? deferred_ : ready_; }
  bool is_empty() const { return ready_.empty() && deferred_.empty(); }
  bool remove_ready(const std::string& path);
  News hold(const std::string& why, bool refused, Instant now);
  News hold_after(const std::string& path, Ending ending, const std::string& why, Instant now);

  const std::chrono::milliseconds patience_, back_off_;
  mutable std::mutex mutex_;
  Files ready_, deferred_;  // ready both; the second are those that were deferred before
  std::map<std::string, Files::iterator> places_;  // in either
  std::map<std::string, Flight> in_flight_;
  std::vector<std::string> finished_;  // the names of those in flight that are
  std::optional<Hold> hold_;
};

}  // namespace eckart::io
