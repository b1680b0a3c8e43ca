#include "io/watch/watched_root.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>
#include <vector>

#include "io/watch/polled_file_system.hpp"
#include "text/printable.hpp"

namespace eckart::io {
namespace {

constexpr std::size_t kMaxEntriesPerStep = 512;  // between two reads of events
constexpr int kMaxEventReads = 16;               // of events, before other work

std::string parent_folder(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return path.substr(0, slash == path.npos ? 0 : slash);
}

}  // namespace

WatchedRoot::WatchedRoot(RootDirectoryPtr root, const WatchOptions& options,
                         const PathFilter& path_filter, ReadyQueue& ready_queue,
                         UnreadTracker& unread_tracker, RootLogFunction log)
    : root_(std::move(root)),
      options_(options),
      path_filter_(path_filter),
      ready_queue_(ready_queue),
      unread_tracker_(unread_tracker),
      log_(std::move(log)),
      tree_(path_filter, root_),
      scan_(
          path_filter, root_, [this](const std::string& folder) { return on_folder(folder); },
          [this](const std::string& folder, int error) { on_unreadable(folder, error); },
          [this](const std::string& link) { on_ignored_link(link); },
          [this](std::string_view name) { on_unread_file(name); }),
      schedule_(options.rescan_interval, options.root_check_interval),
      stability_tracker_(options),
      own_folders_(options.own_folders) {
  if (const DirectoryPtr directory = root_->open_below({}))
    own_folders_ = own_folders_.without_those_around(*directory, root_->path());
}

void WatchedRoot::read_events() {
  last_directory_.reset();
  for (int i = 0; i < kMaxEventReads; ++i) {
    const std::vector<TreeEvent> events = tree_.read();
    if (events.empty()) return;
    const Instant now = Clock::now();
    for (const TreeEvent& event : events) on_event(event, now);
  }
}

void WatchedRoot::on_event(const TreeEvent& event, Instant now) {
  switch (event.kind) {
    case TreeEvent::file_changed:
      return on_file_changed(event.path, now);
    case TreeEvent::file_removed:
      stability_tracker_.remove(event.path);
      ready_queue_.mark_changed(event.path);
      return;
    case TreeEvent::unread_file_added:
      return on_unread_file_added(event.path, now);
    case TreeEvent::unread_file_removed:
      return unread_tracker_.on_removed(event.path);
    case TreeEvent::folder_removed:
      return on_folder_removed(event.path);
    case TreeEvent::folder_added:
      return scan_.push(event.path);
    case TreeEvent::overflow:
      ++overflows_;
      schedule_.report_missed_file();
      return log_(Severity::debug, "inotify events were lost; running a full scan");
    case TreeEvent::root_changed:
      root_may_have_changed_ = true;
      return;
  }
}

void WatchedRoot::on_file_changed(const std::string& path, Instant now) {
  const FileObservation observation = observe(path);
  if (observation.kind == EntryStat::directory) scan_.push_link(path);
  const bool is_ignored =
      observation.kind == EntryStat::link && path_filter_.links() == files::LinkPolicy::none;
  if (is_ignored && path_filter_.accepts_file(path)) on_ignored_link(path);
  if (observation.kind != EntryStat::file || !path_filter_.accepts_file(path)) {
    stability_tracker_.remove(path);
  } else if (!ready_queue_.mark_changed(path) &&
             !stability_tracker_.add_changed(path, observation.fingerprint, now)) {
    schedule_.report_missed_file();
  }
}

/// Drops pending and ready files, even if another folder replaces this one. Files in flight fail,
/// because their directory is gone.
void WatchedRoot::on_folder_removed(const std::string& folder) {
  last_directory_.reset();
  const std::size_t count =
      stability_tracker_.remove_below(folder) + ready_queue_.mark_changed_below(folder);
  if (count == 0) return;
  log_(Severity::info, text::printable(folder) + " was removed or replaced; " +
                           std::to_string(count) + " pending files in it were dropped");
}

/// Logged only once, because there may be many links.
void WatchedRoot::on_ignored_link(const std::string& link) {
  if (std::exchange(has_warned_of_links_, true)) return;
  log_(Severity::warning, text::printable(link) +
                              " is a symbolic link and was ignored; "
                              "set `links: files` for this watch to process links to files");
}

/// Ignores links and the like, as a scan does. A file that is gone counts, because the event of its
/// removal follows.
void WatchedRoot::on_unread_file_added(const std::string& path, Instant now) {
  const EntryStat::Kind kind = observe(path).kind;
  if (kind == EntryStat::file || kind == EntryStat::missing)
    unread_tracker_.on_added(path.substr(path.rfind('/') + 1), now);
}

void WatchedRoot::on_unread_file(std::string_view name) {
  if (schedule_.is_running()) return unread_tracker_.on_scanned(name);
  unread_tracker_.on_added(name, Clock::now());  // in a new folder
}

void WatchedRoot::scan() {
  last_directory_.reset();
  const Instant begin = Clock::now();
  if (schedule_.next_scan_at() <= begin) begin_scan();
  const std::size_t capacity = scan_capacity();
  if (scan_.is_done() || capacity == 0) return;
  for (const std::string& path : scan_.step(std::min(kMaxEntriesPerStep, capacity)))
    on_scanned_file(path, begin);
  const Instant end = Clock::now();
  scan_duration_ += end - begin;
  if (schedule_.is_running() && scan_.is_done()) end_scan(end);
}

void WatchedRoot::begin_scan() {
  schedule_.begin();
  scan_duration_ = {};
  has_transient_errors_ = is_scan_partial_ = false;
  previously_unreadable_ = std::exchange(unreadable_, {});
  tree_.begin_scan();
  unread_tracker_.begin_scan();
  scan_.push({});
}

void WatchedRoot::end_scan(Instant now) {
  if (!is_scan_partial_) tree_.end_scan();
  unread_tracker_.end_scan(now);
  schedule_.end(now, scan_duration_, !has_transient_errors_);
  set_polling_reason(find_polling_reason());
}

/// Adds the inotify watch before the folder is listed, so that no change is missed.
bool WatchedRoot::on_folder(const std::string& folder) {
  if (is_own_folder(folder)) return false;
  const InotifyTree::AddResult result = tree_.add(folder);
  if (result == InotifyTree::AddResult::duplicate || result == InotifyTree::AddResult::missing)
    return false;
  if (polled_file_system_.empty()) polled_file_system_ = polled_file_system_at(folder);
  if (polling_reason_.empty()) set_polling_reason(find_polling_reason());
  return true;
}

/// Whether a link or mount leads to a folder of the service. Logged once for each path.
bool WatchedRoot::is_own_folder(const std::string& folder) {
  const DirectoryPtr directory = root_->open_below(folder);
  const std::filesystem::path* own =
      directory ? own_folders_.find(*directory, path_filter_.path_of(folder)) : nullptr;
  if (!own) return false;
  if (logged_own_folders_.insert(folder).second)
    log_(Severity::warning, (folder.empty() ? "it" : text::printable(folder)) + " leads to " +
                                text::printable(own->native()) +
                                ", a folder of a watch for outputs or moved inputs, and is not "
                                "scanned");
  return true;
}

std::string_view WatchedRoot::polled_file_system_at(const std::string& folder) const {
  const DirectoryPtr directory = root_->open_below(folder);
  return directory ? polled_file_system_of(*directory) : std::string_view();
}

void WatchedRoot::on_scanned_file(const std::string& path, Instant now) {
  const FileObservation observation = observe(path);
  if (observation.kind != EntryStat::file ||
      ready_queue_.update_from_scan(path, observation.fingerprint))
    return;
  if (!stability_tracker_.add_scanned(path, observation.fingerprint,
                                      stable_since(observation.fingerprint, now), now))
    schedule_.report_missed_file();
}

/// Uses the ctime if this machine sets it, so that files that are already stable are ready at once.
Instant WatchedRoot::stable_since(const FileFingerprint& fingerprint, Instant now) const {
  const std::chrono::nanoseconds age = age_of(fingerprint);
  if (!polled_file_system_.empty() || age.count() < 0) return now;
  return now - std::min<std::chrono::nanoseconds>(age, options_.settle_time);
}

FileObservation WatchedRoot::observe(const std::string& path) {
  const std::string folder = parent_folder(path);
  if (!last_directory_ || last_folder_ != folder) {
    last_directory_ = root_->open_below(folder);
    last_folder_ = folder;
  }
  FileObservation observation;
  if (last_directory_) {
    const std::string name = path.substr(path.rfind('/') + 1);
    const EntryStat entry = stat_entry(*last_directory_, name, path_filter_.links());
    observation = {entry.kind, {entry.identity, last_directory_->id()}, entry.error};
  } else if (!is_missing_error(errno)) {
    observation.error = errno;
  }
  if (observation.error != 0) on_unreadable(folder, observation.error);
  return observation;
}

void WatchedRoot::on_unreadable(const std::string& folder, int error) {
  const bool is_too_deep =
      error == ENAMETOOLONG;  // the path exceeds PATH_MAX, so nothing below it is watched
  is_scan_partial_ |= !is_too_deep;
  if (error != EACCES && error != EPERM &&
      !is_too_deep) {  // may be temporary, and no event reports the end
    has_transient_errors_ = true;
    if (polling_reason_.empty()) set_polling_reason(find_polling_reason());
  }
  if (!unreadable_.insert(folder).second || previously_unreadable_.contains(folder)) return;
  log_(Severity::warning, (folder.empty() ? "it" : text::printable(folder)) +
                              " cannot be read: " + std::generic_category().message(error));
}

std::optional<ReadyFile> WatchedRoot::next_ready() {
  const Instant now = Clock::now();
  while (const std::string* due_path = stability_tracker_.due_path(now)) {
    const std::string path = *due_path;
    const FileObservation observation = observe(path);
    if (observation.error == EMFILE || observation.error == ENFILE || observation.error == ENOMEM) {
      stability_tracker_.postpone_check(path, now);
    } else if (observation.kind != EntryStat::file) {
      stability_tracker_.remove(path);
    } else if (std::optional<ReadyFile> file =
                   stability_tracker_.take_if_stable(path, observation.fingerprint, now)) {
      return file;
    }
  }
  return std::nullopt;
}

void WatchedRoot::on_file_finished(ReadyQueue::FinishedFile finished) {
  const bool is_done = finished.status == FinishStatus::done ||
                       (finished.status == FinishStatus::incomplete && finished.is_last_attempt);
  if (is_done && !finished.has_changed) return;
  const Instant now = Clock::now();
  const std::string path = finished.file.path;
  last_directory_.reset();
  const FileObservation observation = observe(path);
  if (observation.kind != EntryStat::file) return;
  if (is_done || observation.fingerprint != finished.file.fingerprint) {
    if (!stability_tracker_.add_changed(path, observation.fingerprint, now))
      schedule_.report_missed_file();
  } else if (finished.status == FinishStatus::incomplete) {
    stability_tracker_.add_incomplete(std::move(finished.file), now);
  } else {
    stability_tracker_.add_deferred(std::move(finished.file), now);
  }
}

Instant WatchedRoot::next_work(bool can_take_files) const {
  if (!scan_.is_done() && scan_capacity() > 0) return Instant::min();
  const std::optional<Instant> due = can_take_files ? stability_tracker_.next_due() : std::nullopt;
  return std::min(schedule_.next_scan_at(), due.value_or(Instant::max()));
}

void WatchedRoot::fill_state(WatchState& state) const {
  state.is_root_present = true;
  state.is_polling = !polling_reason_.empty();
  state.pending = stability_tracker_.size();
  state.oldest_arrival = stability_tracker_.oldest_arrival();
  state.overflows = overflows_;
  state.is_scan_complete = schedule_.has_complete_scan();
}

/// Scans may use half of max_pending. The other half is reserved for events.
std::size_t WatchedRoot::scan_capacity() const {
  const std::size_t max_pending = std::max<std::size_t>(options_.max_pending / 2, 1);
  return max_pending - std::min(max_pending, stability_tracker_.size());
}

std::string WatchedRoot::find_polling_reason() const {
  if (!polled_file_system_.empty())
    return std::string(polled_file_system_) + " does not report all changes";
  if (!tree_.limit_error().empty()) return tree_.limit_error();
  return has_transient_errors_ ? "some folders cannot be read" : "";
}

void WatchedRoot::set_polling_reason(const std::string& why) {
  schedule_.set_period(why.empty() ? options_.rescan_interval : options_.poll_interval);
  if (why == polling_reason_) return;
  polling_reason_ = why;
  if (why.empty()) return log_(Severity::info, "using inotify events again");
  const auto period = std::chrono::ceil<std::chrono::seconds>(options_.poll_interval);
  log_(polled_file_system_.empty() ? Severity::warning : Severity::info,
       "polling every " + std::to_string(period.count()) + " s: " + why);
}

}  // namespace eckart::io
