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

/// Gives files as they arrive in watched folders, however they come there, and all that are there
/// already. It has no end. Each watch has a thread, so that a share that hangs holds up no other.
class WatchSource : public Source {
 public:
  using LogFunction = io::LogFunction;
  using WorkFilter = io::WorkFilter;
  struct Watch {
    WatchOptions options;
    WorkFilter wants;
  };

  /// SourceItem::job is a watch's place in `watches`.
  WatchSource(std::vector<Watch> watches, const LogFunction& tell);
  /// As end().
  ~WatchSource() override;

  /// Ends the threads; one that a dead share's system call holds is waited for. From one thread,
  /// any number of times; what else there is may be called meanwhile and afterwards.
  void end();

  /// Waits until a file is ready; nothing only after `stop`. Watches that have one take turns. A
  /// file is not given again before it is finished. Throws what ended a watch: what WorkFilter
  /// threw, or std::bad_alloc.
  std::optional<SourceItem> next(const std::stop_token& stop) override;

  bool may_block() const override { return true; }

  /// What became of an arrival; to be called once for each that next() has given, from any thread.
  /// `relative` is the arrival's, `why` a reason for people, of FinishStatus::environment.
  void finished(int watch, const std::filesystem::path& relative, FinishStatus ending,
                const std::string& why);
  /// A full scan as soon as possible; from any thread.
  void rescan(int watch);
  /// By watch; from any thread.
  std::vector<WatchState> states() const;

 private:
  const std::unique_ptr<WakeEvent> wake_event_;
  std::vector<std::unique_ptr<FolderWatcher>> watchers_;
  std::size_t next_watcher_ = 0;  // the watch that is asked first; of the thread that calls next()
};

}  // namespace eckart::io
