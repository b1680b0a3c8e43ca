#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "core/instant.hpp"
#include "files/file_descriptor.hpp"
#include "flow/workers.hpp"
#include "io/root_path.hpp"
#include "io/watch/path_filter.hpp"
#include "io/watch/ready_queue.hpp"
#include "io/watch/watch_options.hpp"
#include "io/watch/watched_root.hpp"

namespace eckart::io {

/// One watched folder. A thread finds files that are ready, and waits for the folder if it is
/// missing. Public members may be called from any thread, except end().
class FolderWatcher {
 public:
  /// `on_ready` is called, on any thread, when a file may be ready.
  FolderWatcher(int watch_index, WatchOptions options, WorkFilter work_filter, LogFunction log,
                std::function<void()> on_ready);
  /// Like ~WatchSource().
  ~FolderWatcher();

  /// Stops the thread and waits for it. After that, no new files are found. May be called several
  /// times, from one thread.
  void end();

  /// Returns a ready file, or nullopt if there is none now. Throws what ended the thread.
  std::optional<SourceItem> pop();
  /// When to call pop() again, if files are ready that may not be taken during a backoff.
  std::optional<Instant> retry_at() const { return ready_queue_.retry_at(); }
  void finish(const std::string& path, FinishStatus status, const std::string& why);
  void request_scan();
  WatchState state() const;

 private:
  // Used only by the thread:
  void run();
  void check_root();
  void open_root();
  void close_root(const std::string& why);
  void fill_ready_queue();
  bool can_fill_ready_queue() const;
  bool passes_filter(ReadyFile& file);
  void update_unread_files();
  void update_state();
  void wait();

  SourceItem source_item_of(const std::string& path, const FileFingerprint& fingerprint,
                            RootDirectoryPtr root) const;
  void log_backoff(ReadyQueue::BackoffChange change, const std::string& why) const;
  void log(Severity severity, const std::string& what) const;
  void wake() const;
  void on_failure(std::exception_ptr failure);

  const int watch_index_;
  const WatchOptions options_;
  const RootPath root_path_;
  const PathFilter path_filter_;
  const WorkFilter work_filter_;
  const LogFunction log_;
  const std::function<void()> on_ready_;
  const files::FileDescriptor wake_descriptor_;
  ReadyQueue ready_queue_;

  // Used only by the thread:
  UnreadTracker unread_tracker_;
  std::optional<WatchedRoot> root_;
  int root_errno_ = 0;      // why there is no root
  std::string root_error_;  // the last logged reason why there is no root; or empty
  Instant next_root_check_{};
  std::int64_t previous_overflows_ = 0;  // of roots that were closed

  std::atomic<bool> stop_ = false, is_scan_requested_ = false;
  std::atomic<Instant> busy_since_{Clock::now()};  // max(): the thread waits
  mutable std::mutex mutex_;                       // guards state_ and failure_
  WatchState state_;
  std::exception_ptr failure_;

  flow::Workers thread_;  // last, because it uses all other members
};

}  // namespace eckart::io
