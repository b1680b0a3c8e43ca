#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "core/instant.hpp"
#include "io/watch/inotify_tree.hpp"
#include "io/watch/path_filter.hpp"
#include "io/watch/ready_queue.hpp"
#include "io/watch/scan_schedule.hpp"
#include "io/watch/stability_tracker.hpp"
#include "io/watch/tree_scan.hpp"
#include "io/watch/unread_tracker.hpp"
#include "io/watch/watch_options.hpp"

namespace eckart::io {

/// A watched folder, as long as the same directory is at its path. Events and scans report files.
/// Each is then examined until it is stable. Used by one thread.
class WatchedRoot {
 public:
  using RootLogFunction = std::function<void(Severity, const std::string& what)>;
  /// All arguments except `log` must outlive this object. Begins with a full scan.
  WatchedRoot(RootDirectoryPtr root, const WatchOptions& options, const PathFilter& path_filter,
              ReadyQueue& ready_queue, UnreadTracker& unread_tracker, RootLogFunction log);

  const RootDirectoryPtr& root() const { return root_; }
  /// A descriptor that is readable if there are events; -1 if inotify is not available.
  int descriptor() const { return tree_.descriptor(); }

  /// Processes some of the queued events.
  void read_events();
  /// Continues the scans for a short time.
  void scan();
  void request_scan() { schedule_.request(); }
  /// Returns a file that was unchanged for the settle time, or nullopt if there is none now.
  std::optional<ReadyFile> next_ready();
  /// Takes a file from ReadyQueue::take_finished(): it is done, or is pending again.
  void on_file_finished(ReadyQueue::FinishedFile finished);

  /// Must be called before a wait. An open directory would prevent unmounting.
  void close_directory() { last_directory_.reset(); }

  /// Whether any file is pending.
  bool has_pending() const { return stability_tracker_.size() > 0; }
  /// When to call scan() or next_ready() again if no event arrives. next_ready() counts only if
  /// `can_take_files`.
  Instant next_work(bool can_take_files) const;
  /// Whether an event reported that the root may be another folder now.
  bool root_may_have_changed() const { return root_may_have_changed_; }
  /// Sets the members that this class tracks.
  void fill_state(WatchState& state) const;

 private:
  void on_event(const TreeEvent& event, Instant now);
  void on_file_changed(const std::string& path, Instant now);
  void begin_scan();
  void end_scan(Instant now);
  bool on_folder(const std::string& folder);
  bool is_own_folder(const std::string& folder);
  void on_scanned_file(const std::string& path, Instant now);
  std::string_view polled_file_system_at(const std::string& folder) const;
  Instant stable_since(const FileFingerprint& fingerprint, Instant now) const;
  void on_folder_removed(const std::string& folder);
  void on_ignored_link(const std::string& link);
  void on_unread_file_added(const std::string& path, Instant now);
  void on_unread_file(std::string_view name);
  FileObservation observe(const std::string& path);
  void on_unreadable(const std::string& folder, int error);
  std::size_t scan_capacity() const;
  std::string find_polling_reason() const;
  void set_polling_reason(const std::string& why);

  const RootDirectoryPtr root_;
  const WatchOptions& options_;
  const PathFilter& path_filter_;
  ReadyQueue& ready_queue_;
  UnreadTracker& unread_tracker_;
  const RootLogFunction log_;
  InotifyTree tree_;
  TreeScan scan_;
  ScanSchedule schedule_;
  StabilityTracker stability_tracker_;
  // The directory that was examined last. It only makes many observations in one folder faster:
  // code that acts on a file opens its directory again.
  std::string last_folder_;
  DirectoryPtr last_directory_;
  bool root_may_have_changed_ = false;
  bool has_warned_of_links_ = false;
  std::int64_t overflows_ = 0;
  std::string polling_reason_;           // the last logged reason; or empty
  std::string_view polled_file_system_;  // type of a file system in the tree that does not report
                                         // all changes; or empty
  std::chrono::nanoseconds scan_duration_{};     // of the current full scan
  OwnFolders own_folders_;                       // of WatchOptions, not around the root
  std::set<std::string> logged_own_folders_;     // paths that lead to them
  std::set<std::string> unreadable_;             // folders, in the current full scan
  std::set<std::string> previously_unreadable_;  // folders, in the previous full scan
  bool has_transient_errors_ = false;            // some of unreadable_ may be readable soon
  bool is_scan_partial_ = false;  // folders below unreadable_ may exist: keep their watches
};

}  // namespace eckart::io
