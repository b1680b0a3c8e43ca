#include "io/watch/watched_root.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>
#include <vector>

#include "core/printable.hpp"
#include "io/watch/file_system.hpp"

namespace eckart::io {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kStep = 512;  // entries, until events are read again
constexpr int kReads = 16;          // of events, until something else is done

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return path.substr(0, slash == path.npos ? 0 : slash);
}

}  // namespace

WatchedRoot::WatchedRoot(RootDirectoryPtr root, const WatchOptions& options,
                         const Selection& selection, Handout& handout, Tell tell)
    : root_(std::move(root)),
      options_(options),
      selection_(selection),
      handout_(handout),
      tell_(std::move(tell)),
      tree_(selection, root_),
      scan_(
          selection, root_, [this](const std::string& folder) { return enter(folder); },
          [this](const std::string& folder, int error) { on_unreadable(folder, error); },
          [this](const std::string& link) { on_ignored_link(link); }),
      schedule_(options.rescan, options.root_check),
      settling_(options) {}

void WatchedRoot::read_events() {
  last_directory_.reset();
  for (int i = 0; i < kReads; ++i) {
    const std::vector<TreeEvent> events = tree_.read();
    if (events.empty()) return;
    const Instant now = Clock::now();
    for (const TreeEvent& event : events) on_event(event, now);
  }
}

void WatchedRoot::on_event(const TreeEvent& event, Instant now) {
  switch (event.kind) {
    case TreeEvent::arrived:
      return on_arrival(event.path, now);
    case TreeEvent::left:
      settling_.forget(event.path);
      handout_.changed(event.path);
      return;
    case TreeEvent::folder_left:
      return on_folder_left(event.path);
    case TreeEvent::folder:
      return scan_.push(event.path);
    case TreeEvent::overflow:
      ++overflows_;
      schedule_.missed();
      return tell_(Severity::debug, "events were lost: all of it is scanned");
    case TreeEvent::root:
      in_doubt_ = true;
      return;
  }
}

void WatchedRoot::on_arrival(const std::string& path, Instant now) {
  const Look there = look(path);
  if (there.kind == Entry::directory) scan_.push_link(path);
  const bool is_ignored = there.kind == Entry::link && selection_.links() == Links::none;
  if (is_ignored && selection_.takes_file(path)) on_ignored_link(path);
  if (there.kind != Entry::file || !selection_.takes_file(path)) {
    settling_.forget(path);
  } else if (!handout_.changed(path) && !settling_.changed(path, there.seen, now)) {
    schedule_.missed();
  }
}

/// What waits there is forgotten, whatever comes to its place. What is in flight finds its
/// directory gone.
void WatchedRoot::on_folder_left(const std::string& folder) {
  last_directory_.reset();
  const std::size_t count = settling_.forget_below(folder) + handout_.changed_below(folder);
  if (count == 0) return;
  tell_(Severity::info, printable(folder) + " has left, or was replaced: " + std::to_string(count) +
                            " files that waited there are forgotten");
}

/// Told once: there may be as many as files.
void WatchedRoot::on_ignored_link(const std::string& link) {
  if (std::exchange(told_of_links_, true)) return;
  tell_(Severity::warning, printable(link) +
                               " is a symbolic link and is ignored, as all links to files are: "
                               "`links: files` in the configuration of this watch takes them");
}

void WatchedRoot::scan() {
  last_directory_.reset();
  const Instant begin = Clock::now();
  if (schedule_.next() <= begin) begin_scan();
  const std::size_t room = room_for_scan();
  if (scan_.done() || room == 0) return;
  for (const std::string& path : scan_.step(std::min(kStep, room))) on_found(path, begin);
  const Instant end = Clock::now();
  work_ += end - begin;
  if (schedule_.running() && scan_.done()) end_scan(end);
}

void WatchedRoot::begin_scan() {
  schedule_.began();
  work_ = {};
  is_failing_ = is_partial_ = false;
  unreadable_before_ = std::exchange(unreadable_, {});
  tree_.begin_scan();
  scan_.push({});
}

void WatchedRoot::end_scan(Instant now) {
  if (!is_partial_) tree_.end_scan();
  schedule_.ended(now, work_, !is_failing_);
  poll_because(why_poll());
}

/// Before its folder is listed, so that nothing comes between.
bool WatchedRoot::enter(const std::string& folder) {
  const InotifyTree::Added added = tree_.add(folder);
  if (added == InotifyTree::Added::elsewhere || added == InotifyTree::Added::gone) return false;
  if (silent_.empty()) silent_ = silent_file_system_at(folder);
  if (why_polling_.empty()) poll_because(why_poll());
  return true;
}

std::string_view WatchedRoot::silent_file_system_at(const std::string& folder) const {
  const DirectoryPtr directory = root_->open_below(folder);
  return directory ? silent_file_system_of(*directory) : std::string_view();
}

void WatchedRoot::on_found(const std::string& path, Instant now) {
  const Look there = look(path);
  if (there.kind != Entry::file || handout_.has(path, there.seen)) return;
  if (!settling_.found(path, there.seen, still_since(there.seen, now), now)) schedule_.missed();
}

/// By ctime, where this system sets it, so that what lies there is not waited for.
Instant WatchedRoot::still_since(const Seen& seen, Instant now) const {
  const std::chrono::nanoseconds age = age_of(seen);
  if (!silent_.empty() || age.count() < 0) return now;
  return now - std::min<std::chrono::nanoseconds>(age, options_.settle);
}

Look WatchedRoot::look(const std::string& path) {
  const std::string folder = folder_of(path);
  if (!last_directory_ || last_folder_ != folder) {
    last_directory_ = root_->open_below(folder);
    last_folder_ = folder;
  }
  Look there;
  if (last_directory_) {
    const std::string name = path.substr(path.rfind('/') + 1);
    const Entry entry = look_at(*last_directory_, name, selection_.links());
    there = {entry.kind, {entry.identity, last_directory_->id()}, entry.error};
  } else if (!means_gone(errno)) {
    there.error = errno;
  }
  if (there.error != 0) on_unreadable(folder, there.error);
  return there;
}

void WatchedRoot::on_unreadable(const std::string& folder, int error) {
  const bool is_too_deep = error == ENAMETOOLONG;  // over PATH_MAX: nothing below it is watched
  is_partial_ |= !is_too_deep;
  if (error != EACCES && error != EPERM && !is_too_deep) {  // may pass, and no event will say so
    is_failing_ = true;
    if (why_polling_.empty()) poll_because(why_poll());
  }
  if (!unreadable_.insert(folder).second || unreadable_before_.contains(folder)) return;
  tell_(Severity::warning, (folder.empty() ? "it" : printable(folder)) +
                               " cannot be read: " + std::generic_category().message(error));
}

std::optional<ReadyFile> WatchedRoot::next_ready() {
  const Instant now = Clock::now();
  while (const std::string* due = settling_.due(now)) {
    const std::string path = *due;
    const Look there = look(path);
    if (there.error == EMFILE || there.error == ENFILE || there.error == ENOMEM) {
      settling_.delay(path, now);
    } else if (there.kind != Entry::file) {
      settling_.forget(path);
    } else if (std::optional<ReadyFile> file = settling_.looked(path, there.seen, now)) {
      return file;
    }
  }
  return std::nullopt;
}

void WatchedRoot::take_back(Handout::Returned returned) {
  const bool is_over = returned.ending == Ending::settled ||
                       (returned.ending == Ending::half_written && returned.last_try);
  if (is_over && !returned.changed) return;
  const Instant now = Clock::now();
  const std::string path = returned.file.path;
  last_directory_.reset();
  const Look there = look(path);
  if (there.kind != Entry::file) return;
  if (is_over || there.seen != returned.file.seen) {
    if (!settling_.changed(path, there.seen, now)) schedule_.missed();
  } else if (returned.ending == Ending::half_written) {
    settling_.again(std::move(returned.file), now);
  } else {
    settling_.back(std::move(returned.file), now);
  }
}

Instant WatchedRoot::next_work(bool room) const {
  if (!scan_.done() && room_for_scan() > 0) return Instant::min();
  const std::optional<Instant> due = room ? settling_.next_due() : std::nullopt;
  return std::min(schedule_.next(), due.value_or(Instant::max()));
}

void WatchedRoot::describe(WatchState& state) const {
  state.root_is_there = true;
  state.polling = !why_polling_.empty();
  state.pending = settling_.size();
  state.oldest = settling_.oldest();
  state.overflows = overflows_;
  state.scanned = schedule_.complete();
}

/// Half of what may settle at a time is left to events.
std::size_t WatchedRoot::room_for_scan() const {
  const std::size_t most = std::max<std::size_t>(options_.most_pending / 2, 1);
  return most - std::min(most, settling_.size());
}

std::string WatchedRoot::why_poll() const {
  if (!silent_.empty()) return std::string(silent_) + " does not tell of all that changes";
  if (!tree_.shortage().empty()) return tree_.shortage();
  return is_failing_ ? "some of it cannot be read" : "";
}

void WatchedRoot::poll_because(const std::string& why) {
  schedule_.set_period(why.empty() ? options_.rescan : options_.poll);
  if (why == why_polling_) return;
  why_polling_ = why;
  if (why.empty()) return tell_(Severity::info, "is watched by its events again");
  const auto period = std::chrono::ceil<std::chrono::seconds>(options_.poll);
  tell_(silent_.empty() ? Severity::warning : Severity::info,
        "is scanned each " + std::to_string(period.count()) + " s: " + why);
}

}  // namespace eckart::io
