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

using Clock = std::chrono::steady_clock;
constexpr std::size_t kMaxEntriesPerStep = 512;  // between two reads of events
constexpr int kMaxEventReads = 16;               // of events, before other work

std::string parent_folder(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return path.substr(0, slash == path.npos ? 0 : slash);
}

}  // namespace

WatchedRoot::WatchedRoot(RootDirectoryPtr root, const WatchOptions& options,
                         const PathFilter& selection, ReadyQueue& handout, RootLogFunction tell)
    : root_(std::move(root)),
      options_(options),
      path_filter_(selection),
      ready_queue_(handout),
      log_(std::move(tell)),
      tree_(selection, root_),
      scan_(
          selection, root_, [this](const std::string& folder) { return on_folder(folder); },
          [this](const std::string& folder, int error) { on_unreadable(folder, error); },
          [this](const std::string& link) { on_ignored_link(link); }),
      schedule_(options.rescan, options.root_check),
      stability_tracker_(options) {}

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
    case TreeEvent::arrived:
      return on_file_changed(event.path, now);
    case TreeEvent::left:
      stability_tracker_.forget(event.path);
      ready_queue_.changed(event.path);
      return;
    case TreeEvent::folder_removed:
      return on_folder_removed(event.path);
    case TreeEvent::folder:
      return scan_.push(event.path);
    case TreeEvent::overflow:
      ++overflows_;
      schedule_.missed();
      return log_(Severity::debug, "inotify events were lost; running a full scan");
    case TreeEvent::root:
      root_may_have_changed_ = true;
      return;
  }
}

void WatchedRoot::on_file_changed(const std::string& path, Instant now) {
  const FileObservation there = observe(path);
  if (there.kind == EntryStat::directory) scan_.push_link(path);
  const bool is_ignored = there.kind == EntryStat::link && path_filter_.links() == LinkPolicy::none;
  if (is_ignored && path_filter_.accepts_file(path)) on_ignored_link(path);
  if (there.kind != EntryStat::file || !path_filter_.accepts_file(path)) {
    stability_tracker_.forget(path);
  } else if (!ready_queue_.changed(path) && !stability_tracker_.changed(path, there.seen, now)) {
    schedule_.missed();
  }
}

/// Drops pending and ready files, even if another folder replaces this one. Files in flight fail,
/// because their directory is gone.
void WatchedRoot::on_folder_removed(const std::string& folder) {
  last_directory_.reset();
  const std::size_t count =
      stability_tracker_.forget_below(folder) + ready_queue_.mark_changed_below(folder);
  if (count == 0) return;
  log_(Severity::info, printable(folder) + " was removed or replaced; " + std::to_string(count) +
                           " pending files in it were dropped");
}

/// Logged only once, because there may be many links.
void WatchedRoot::on_ignored_link(const std::string& link) {
  if (std::exchange(has_warned_of_links_, true)) return;
  log_(Severity::warning, printable(link) +
                              " is a symbolic link and was ignored; "
                              "set `links: files` for this watch to process links to files");
}

void WatchedRoot::scan() {
  last_directory_.reset();
  const Instant begin = Clock::now();
  if (schedule_.next() <= begin) begin_scan();
  const std::size_t room = scan_capacity();
  if (scan_.done() || room == 0) return;
  for (const std::string& path : scan_.step(std::min(kMaxEntriesPerStep, room)))
    on_scanned_file(path, begin);
  const Instant end = Clock::now();
  scan_duration_ += end - begin;
  if (schedule_.running() && scan_.done()) end_scan(end);
}

void WatchedRoot::begin_scan() {
  schedule_.began();
  scan_duration_ = {};
  has_transient_errors_ = is_partial_ = false;
  previously_unreadable_ = std::exchange(unreadable_, {});
  tree_.begin_scan();
  scan_.push({});
}

void WatchedRoot::end_scan(Instant now) {
  if (!is_partial_) tree_.end_scan();
  schedule_.ended(now, scan_duration_, !has_transient_errors_);
  set_polling_reason(find_polling_reason());
}

/// Adds the inotify watch before the folder is listed, so that no change is missed.
bool WatchedRoot::on_folder(const std::string& folder) {
  const InotifyTree::Added added = tree_.add(folder);
  if (added == InotifyTree::Added::elsewhere || added == InotifyTree::Added::gone) return false;
  if (polled_file_system_.empty()) polled_file_system_ = polled_file_system_at(folder);
  if (polling_reason_.empty()) set_polling_reason(find_polling_reason());
  return true;
}

std::string_view WatchedRoot::polled_file_system_at(const std::string& folder) const {
  const DirectoryPtr directory = root_->open_below(folder);
  return directory ? polled_file_system_of(*directory) : std::string_view();
}

void WatchedRoot::on_scanned_file(const std::string& path, Instant now) {
  const FileObservation there = observe(path);
  if (there.kind != EntryStat::file || ready_queue_.has(path, there.seen)) return;
  if (!stability_tracker_.found(path, there.seen, stable_since(there.seen, now), now))
    schedule_.missed();
}

/// Uses the ctime if this machine sets it, so that files that are already stable are ready at once.
Instant WatchedRoot::stable_since(const FileFingerprint& seen, Instant now) const {
  const std::chrono::nanoseconds age = age_of(seen);
  if (!polled_file_system_.empty() || age.count() < 0) return now;
  return now - std::min<std::chrono::nanoseconds>(age, options_.settle);
}

FileObservation WatchedRoot::observe(const std::string& path) {
  const std::string folder = parent_folder(path);
  if (!last_directory_ || last_folder_ != folder) {
    last_directory_ = root_->open_below(folder);
    last_folder_ = folder;
  }
  FileObservation there;
  if (last_directory_) {
    const std::string name = path.substr(path.rfind('/') + 1);
    const EntryStat entry = stat_entry(*last_directory_, name, path_filter_.links());
    there = {entry.kind, {entry.identity, last_directory_->id()}, entry.error};
  } else if (!is_missing_error(errno)) {
    there.error = errno;
  }
  if (there.error != 0) on_unreadable(folder, there.error);
  return there;
}

void WatchedRoot::on_unreadable(const std::string& folder, int error) {
  const bool is_too_deep =
      error == ENAMETOOLONG;  // the path exceeds PATH_MAX, so nothing below it is watched
  is_partial_ |= !is_too_deep;
  if (error != EACCES && error != EPERM &&
      !is_too_deep) {  // may be temporary, and no event reports the end
    has_transient_errors_ = true;
    if (polling_reason_.empty()) set_polling_reason(find_polling_reason());
  }
  if (!unreadable_.insert(folder).second || previously_unreadable_.contains(folder)) return;
  log_(Severity::warning, (folder.empty() ? "it" : printable(folder)) +
                              " cannot be read: " + std::generic_category().message(error));
}

std::optional<ReadyFile> WatchedRoot::next_ready() {
  const Instant now = Clock::now();
  while (const std::string* due = stability_tracker_.due(now)) {
    const std::string path = *due;
    const FileObservation there = observe(path);
    if (there.error == EMFILE || there.error == ENFILE || there.error == ENOMEM) {
      stability_tracker_.postpone_check(path, now);
    } else if (there.kind != EntryStat::file) {
      stability_tracker_.forget(path);
    } else if (std::optional<ReadyFile> file = stability_tracker_.looked(path, there.seen, now)) {
      return file;
    }
  }
  return std::nullopt;
}

void WatchedRoot::on_file_finished(ReadyQueue::FinishedFile returned) {
  const bool is_over = returned.ending == FinishStatus::settled ||
                       (returned.ending == FinishStatus::incomplete && returned.is_last_attempt);
  if (is_over && !returned.changed) return;
  const Instant now = Clock::now();
  const std::string path = returned.file.path;
  last_directory_.reset();
  const FileObservation there = observe(path);
  if (there.kind != EntryStat::file) return;
  if (is_over || there.seen != returned.file.seen) {
    if (!stability_tracker_.changed(path, there.seen, now)) schedule_.missed();
  } else if (returned.ending == FinishStatus::incomplete) {
    stability_tracker_.again(std::move(returned.file), now);
  } else {
    stability_tracker_.back(std::move(returned.file), now);
  }
}

Instant WatchedRoot::next_work(bool room) const {
  if (!scan_.done() && scan_capacity() > 0) return Instant::min();
  const std::optional<Instant> due = room ? stability_tracker_.next_due() : std::nullopt;
  return std::min(schedule_.next(), due.value_or(Instant::max()));
}

void WatchedRoot::fill_state(WatchState& state) const {
  state.is_root_present = true;
  state.polling = !polling_reason_.empty();
  state.pending = stability_tracker_.size();
  state.oldest = stability_tracker_.oldest();
  state.overflows = overflows_;
  state.scanned = schedule_.complete();
}

/// Scans may use half of max_pending. The other half is reserved for events.
std::size_t WatchedRoot::scan_capacity() const {
  const std::size_t most = std::max<std::size_t>(options_.max_pending / 2, 1);
  return most - std::min(most, stability_tracker_.size());
}

std::string WatchedRoot::find_polling_reason() const {
  if (!polled_file_system_.empty())
    return std::string(polled_file_system_) + " does not report all changes";
  if (!tree_.shortage().empty()) return tree_.shortage();
  return has_transient_errors_ ? "some folders cannot be read" : "";
}

void WatchedRoot::set_polling_reason(const std::string& why) {
  schedule_.set_period(why.empty() ? options_.rescan : options_.poll);
  if (why == polling_reason_) return;
  polling_reason_ = why;
  if (why.empty()) return log_(Severity::info, "using inotify events again");
  const auto period = std::chrono::ceil<std::chrono::seconds>(options_.poll);
  log_(polled_file_system_.empty() ? Severity::warning : Severity::info,
       "polling every " + std::to_string(period.count()) + " s: " + why);
}

}  // namespace eckart::io
