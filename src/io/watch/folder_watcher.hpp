#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "core/descriptor.hpp"
#include "flow/workers.hpp"
#include "io/watch/handout.hpp"
#include "io/watch/selection.hpp"
#include "io/watch/watch.hpp"
#include "io/watch/watched_root.hpp"

namespace eckart::io {

/// One watched folder, with a thread of its own that finds what is ready in it, and waits for the
/// folder where it is missing. Public members are for any thread.
class FolderWatcher {
 public:
  /// `ring` is called when there may be something to take, on any thread.
  FolderWatcher(int number, WatchOptions options, Wants wants, Tell tell,
                std::function<void()> ring);
  /// As ~WatchSource().
  ~FolderWatcher();

  /// Ends the thread, and waits for it; from one thread, any number of times. Then nothing new is
  /// found.
  void end();

  /// A ready file, if there is one now. Throws what ended the thread.
  std::optional<Arrival> take();
  /// When to ask again, where files are ready that may not be taken.
  std::optional<Instant> held_until() const { return handout_.held_until(); }
  void finished(const std::string& path, Ending ending, const std::string& why);
  void rescan();
  WatchState state() const;

 private:
  // Of the thread.
  void run();
  void check_root();
  void enter_root();
  void leave_root(const std::string& why);
  void hand_out();
  bool may_hand_out() const;
  bool is_wanted(ReadyFile& file);
  void publish();
  void wait();

  Arrival arrival_of(const std::string& path, const Seen& seen, RootDirectoryPtr root) const;
  void tell(Handout::News news, const std::string& why) const;
  void tell(Severity severity, const std::string& what) const;
  void wake() const;
  void failed(std::exception_ptr failure);

  const int number_;
  const WatchOptions options_;
  const Selection selection_;
  const Wants wants_;
  const Tell tell_;
  const std::function<void()> ring_;
  const Descriptor wake_;
  Handout handout_;

  // Of the thread.
  std::optional<WatchedRoot> root_;
  std::string missing_;  // why there is no root, as it was told; or empty
  Instant next_check_{};
  std::int64_t overflows_before_ = 0;  // of roots that were left

  std::atomic<bool> stop_ = false, rescan_ = false;
  std::atomic<Instant> at_work_since_{std::chrono::steady_clock::now()};  // max(): not
  mutable std::mutex mutex_;                                              // of these two
  WatchState state_;
  std::exception_ptr failure_;

  flow::Workers thread_;  // last: it uses all the others
};

}  // namespace eckart::io
