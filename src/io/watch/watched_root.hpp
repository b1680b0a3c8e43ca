#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "io/watch/inotify_tree.hpp"
#include "io/watch/path_filter.hpp"
#include "io/watch/ready_queue.hpp"
#include "io/watch/scan_schedule.hpp"
#include "io/watch/stability_tracker.hpp"
#include "io/watch/tree_scan.hpp"
#include "io/watch/watch_options.hpp"

namespace eckart::io {

/// A watched folder for as long as it is the same one. Events and scans say where a file may be;
/// there it is looked at until it is still. Used by one thread.
class WatchedRoot {
 public:
  using RootLogFunction = std::function<void(Severity, const std::string& what)>;
  /// All but `tell` must outlive it. Begins with a full scan.
  WatchedRoot(RootDirectoryPtr root, const WatchOptions& options, const PathFilter& selection,
              ReadyQueue& handout, RootLogFunction tell);

  const RootDirectoryPtr& root() const { return root_; }
  /// Readable when there are events; -1 where there never are any.
  int descriptor() const { return tree_.descriptor(); }

  /// Some of the events that have come.
  void read_events();
  /// Goes on with what is to be scanned, for a little while.
  void scan();
  void request_scan() { schedule_.request(); }
  /// A file that was still for long enough, if there is one now.
  std::optional<ReadyFile> next_ready();
  /// What has come back from the handout: it is over, or settles anew.
  void on_file_finished(ReadyQueue::FinishedFile returned);

  /// To be called before a wait: else what it has open could not be unmounted.
  void release() { last_directory_.reset(); }

  /// Whether some settle.
  bool has_pending() const { return stability_tracker_.size() > 0; }
  /// When there is something to do for scan() or, where there is `room` for its files,
  /// next_ready(), if no event comes before.
  Instant next_work(bool room) const;
  /// An event has said that the root may be another folder by now.
  bool root_may_have_changed() const { return root_may_have_changed_; }
  /// Fills in what it knows of it.
  void fill_state(WatchState& state) const;

 private:
  void on_event(const TreeEvent& event, Instant now);
  void on_file_changed(const std::string& path, Instant now);
  void begin_scan();
  void end_scan(Instant now);
  bool on_folder(const std::string& folder);
  void on_scanned_file(const std::string& path, Instant now);
  std::string_view polled_file_system_at(const std::string& folder) const;
  Instant stable_since(const FileFingerprint& seen, Instant now) const;
  void on_folder_removed(const std::string& folder);
  void on_ignored_link(const std::string& link);
  FileObservation observe(const std::string& path);
  void on_unreadable(const std::string& folder, int error);
  std::size_t scan_capacity() const;
  std::string find_polling_reason() const;
  void set_polling_reason(const std::string& why);

  const RootDirectoryPtr root_;
  const WatchOptions& options_;
  const PathFilter& path_filter_;
  ReadyQueue& ready_queue_;
  const RootLogFunction log_;
  InotifyTree tree_;
  TreeScan scan_;
  ScanSchedule schedule_;
  StabilityTracker stability_tracker_;
  // The directory that was looked into last. Only a help for looks at many files at once: whoever
  // acts on one opens its directory anew.
  std::string last_folder_;
  DirectoryPtr last_directory_;
  bool root_may_have_changed_ = false;
  bool has_warned_of_links_ = false;
  std::int64_t overflows_ = 0;
  std::string polling_reason_;  // as it was told; or empty
  std::string_view
      polled_file_system_;  // a file system in the tree that tells of no events; or empty
  std::chrono::nanoseconds scan_duration_{};  // of the full scan that is running
  std::set<std::string> unreadable_,
      previously_unreadable_;          // folders, since this full scan began, ...
  bool has_transient_errors_ = false;  // ... and some of them may be readable soon
  bool is_partial_ = false;            // ... and below some of them folders may be watched
};

}  // namespace eckart::io
