#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "io/watch/watch_options.hpp"

namespace eckart::io {

class WakeEvent;
class FolderWatcher;

/// Yields the files in watched folders and those that arrive later, in any way. It has no end. Each
/// watch has its own thread, so that a hanging network share does not delay other watches.
class WatchSource : public Source {
 public:
  using LogFunction = io::LogFunction;
  using WorkFilter = io::WorkFilter;
  struct Watch {
    WatchOptions options;
    WorkFilter work_filter;
  };

  /// SourceItem::job is the index in `watches`.
  WatchSource(std::vector<Watch> watches, const LogFunction& log);
  /// Calls end().
  ~WatchSource() override;

  /// Stops the threads and waits for them, also for a thread in a system call on a hanging share.
  /// May be called several times, from one thread. Other members may be called during and after it.
  void end();

  /// Waits until a file is ready. Returns nullopt only after a stop request. Watches with ready
  /// files take turns. A file is not returned again before it is finished. Throws what ended a
  /// watch: an exception of the WorkFilter, or std::bad_alloc.
  std::optional<SourceItem> next(const std::stop_token& stop) override;

  bool may_block() const override { return true; }
  /// Those of all watches. Thread-safe.
  UnreadFiles unread_files() const override;

  /// Must be called once for each item that next() has returned, from any thread. `relative` is
  /// SourceItem::relative. `why` is a message about an environment error.
  void finish(int watch, const std::filesystem::path& relative, FinishStatus status,
              const std::string& why);
  /// Requests a full scan as soon as possible. Thread-safe.
  void request_scan(int watch);
  /// One state per watch. Thread-safe.
  std::vector<WatchState> states() const;

 private:
  const std::unique_ptr<WakeEvent> wake_event_;
  std::vector<std::unique_ptr<FolderWatcher>> watchers_;
  // Index of the watch that next() tries first. Used only by its thread.
  std::size_t next_watcher_ = 0;
};

}  // namespace eckart::io
