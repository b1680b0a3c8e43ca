#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "files/file_descriptor.hpp"
#include "flow/workers.hpp"
#include "io/watch/path_filter.hpp"
#include "io/watch/ready_queue.hpp"
#include "io/watch/watch_options.hpp"
#include "io/watch/watched_root.hpp"

namespace eckart::io {

/// One watched folder, with a thread of its own that finds what is ready in it, and waits for the
/// folder where it is missing. Public members are for any thread.
class FolderWatcher {
 public:
  /// `ring` is called when there may be something to take, on any thread.
  FolderWatcher(int number, WatchOptions options, WorkFilter wants, LogFunction tell,
                std::function<void()> ring);
  /// As ~WatchSource().
  ~FolderWatcher();

  /// Ends the thread, and waits for it; from one thread, any number of times. Then nothing new is
  /// found.
  void end();

  /// A ready file, if there is one now. Throws what ended the thread.
  std::optional<SourceItem> take();
  /// When to ask again, where files are ready that may not be taken.
  std::optional<Instant> retry_at() const { return ready_queue_.retry_at(); }
  void finished(const std::string& path, FinishStatus ending, const std::string& why);
  void rescan();
  WatchState state() const;

 private:
  // Of the thread.
  void run();
  void check_root();
  void open_root();
  void close_root(const std::string& why);
  void fill_ready_queue();
  bool can_fill_ready_queue() const;
  bool passes_filter(ReadyFile& file);
  void update_state();
  void wait();

  SourceItem source_item_of(const std::string& path, const FileFingerprint& seen,
                            RootDirectoryPtr root) const;
  void tell(ReadyQueue::BackoffChange news, const std::string& why) const;
  void tell(Severity severity, const std::string& what) const;
  void wake() const;
  void failed(std::exception_ptr failure);

  const int watch_index_;
  const WatchOptions options_;
  const PathFilter path_filter_;
  const WorkFilter work_filter_;
  const LogFunction log_;
  const std::function<void()> on_ready_;
  const FileDescriptor wake_descriptor_;
  ReadyQueue ready_queue_;

  // Of the thread.
  std::optional<WatchedRoot> root_;
  std::string root_error_;  // why there is no root, as it was told; or empty
  Instant next_root_check_{};
  std::int64_t previous_overflows_ = 0;  // of roots that were left

  std::atomic<bool> stop_ = false, rescan_ = false;
  std::atomic<Instant> busy_since_{std::chrono::steady_clock::now()};  // max(): not
  mutable std::mutex mutex_;                                           // of these two
  WatchState state_;
  std::exception_ptr failure_;

  flow::Workers thread_;  // last: it uses all the others
};

}  // namespace eckart::io
