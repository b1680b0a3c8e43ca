#include "io/watch/folder_watcher.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "core/error.hpp"
#include "core/printable.hpp"
#include "io/watch/look.hpp"

namespace eckart::io {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kStep = 512;  // files, until events are read again

std::string reason_of(int error) { return std::generic_category().message(error); }

Descriptor make_wake() {
  Descriptor wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake) throw EnvironmentError("cannot watch folders: " + reason_of(errno));
  return wake;
}

}  // namespace

FolderWatcher::FolderWatcher(int number, WatchOptions options, Wants wants, Tell tell,
                             std::function<void()> ring)
    : number_(number),
      options_(std::move(options)),
      selection_(options_),
      wants_(std::move(wants)),
      tell_(std::move(tell)),
      ring_(std::move(ring)),
      wake_(make_wake()),
      handout_(options_),
      thread_(
          "watch" + std::to_string(number), 1, [this](int) { run(); },
          [this](std::exception_ptr failure) { failed(std::move(failure)); }) {}

FolderWatcher::~FolderWatcher() { end(); }

void FolderWatcher::end() {
  stop_ = true;
  wake();
  thread_.join();
}

std::optional<Arrival> FolderWatcher::take() {
  {
    const std::lock_guard lock(mutex_);
    if (failure_) std::rethrow_exception(failure_);
  }
  const std::optional<Handout::Taken> taken = handout_.take(Clock::now());
  if (!taken) return std::nullopt;
  if (taken->makes_room) wake();
  Arrival arrival = arrival_of(taken->path, taken->seen, taken->root);
  arrival.last_try = taken->last_try;
  return arrival;
}

void FolderWatcher::finished(const std::string& path, Ending ending, const std::string& why) {
  tell(handout_.finished(path, ending, why, Clock::now()), why);
  ring_();
  wake();
}

void FolderWatcher::rescan() {
  rescan_ = true;
  wake();
}

WatchState FolderWatcher::state() const {
  WatchState state;
  {
    const std::lock_guard lock(mutex_);
    state = state_;
  }
  handout_.describe(state);
  const Instant since = at_work_since_;
  if (since != Instant::max()) state.at_work_since = since;
  return state;
}

void FolderWatcher::run() {
  while (!stop_) {
    check_root();
    for (Handout::Returned& returned : handout_.returned()) {
      if (root_) root_->take_back(std::move(returned));
    }
    if (root_) {
      if (rescan_.exchange(false)) root_->request_scan();
      root_->read_events();
      root_->scan();
      hand_out();
      if (!root_->has_files()) tell(handout_.nothing_settles(), {});
    }
    if (root_) root_->release();
    publish();
    wait();
  }
}

void FolderWatcher::check_root() {
  const Instant now = Clock::now();
  if (now < next_check_ && !(root_ && root_->is_in_doubt())) return;
  next_check_ = now + options_.root_check;
  const std::optional<FileId> id = directory_at(options_.root);
  const int error = errno;
  if (root_ && id == root_->root()->id() && !root_->is_in_doubt()) return;
  if (root_) leave_root(id ? "was moved, replaced or unmounted" : "is gone: " + reason_of(error));
  enter_root();
}

void FolderWatcher::enter_root() {
  RootDirectoryPtr root = RootDirectory::open(options_.root, options_.links);
  const DirectoryPtr directory = root ? root->open_below({}) : nullptr;
  const bool is_readable = directory && directory->open_for_reading();
  const int error = errno;
  if (is_readable) {
    if (!missing_.empty()) tell(Severity::info, "is there, and is watched");
    missing_.clear();
    root_.emplace(std::move(root), options_, selection_, handout_,
                  [this](Severity severity, const std::string& what) { tell(severity, what); });
  } else if (missing_.empty()) {
    missing_ = reason_of(error);
    tell(Severity::warning, "is waited for: " + missing_);
  }
}

/// What settles there is forgotten, and so is what is ready; what is in flight comes back.
void FolderWatcher::leave_root(const std::string& why) {
  tell(Severity::warning, why);
  missing_ = why;
  WatchState state;
  root_->describe(state);
  overflows_before_ += state.overflows;
  root_.reset();
  handout_.drop_ready();
}

void FolderWatcher::hand_out() {
  bool some = false;
  for (int i = 0; i < kStep && !stop_ && may_hand_out(); ++i) {
    std::optional<ReadyFile> file = root_->next_ready();
    if (!file) break;
    file->root = root_->root();
    if (!is_wanted(*file)) continue;
    handout_.put(std::move(*file));
    some = true;
  }
  if (some) ring_();
}

bool FolderWatcher::may_hand_out() const {
  return handout_.has_room() && !handout_.holds_until(Clock::now());
}

/// Where that cannot be said, the file is taken back, and asked about later.
bool FolderWatcher::is_wanted(ReadyFile& file) {
  if (!wants_) return true;
  try {
    const bool wanted = wants_(arrival_of(file.path, file.seen, file.root), file.seen.file.state);
    tell(handout_.answered(), {});
    return wanted;
  } catch (const EnvironmentError& error) {
    tell(handout_.refused(error.what(), Clock::now()), error.what());
    root_->take_back({std::move(file), Ending::environment});
    return false;
  }
}

void FolderWatcher::publish() {
  WatchState state;
  if (root_) root_->describe(state);
  state.overflows += overflows_before_;
  const std::lock_guard lock(mutex_);
  state_ = std::move(state);
}

/// For the next event, call, or time at which something is due.
void FolderWatcher::wait() {
  Instant next = next_check_;
  const Instant now = Clock::now();
  if (root_) next = std::min(next, root_->next_work(may_hand_out()));
  if (const auto held = handout_.holds_until(now)) next = std::min(next, *held);
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(std::max(next, now) - now);
  pollfd events[] = {{wake_.get(), POLLIN, 0}, {root_ ? root_->descriptor() : -1, POLLIN, 0}};
  at_work_since_ = Instant::max();
  const int found = ::poll(events, 2, int(left.count()));
  at_work_since_ = Clock::now();
  if (found < 0) return;  // a signal
  eventfd_t calls = 0;
  if (events[0].revents) ::eventfd_read(wake_.get(), &calls);
}

Arrival FolderWatcher::arrival_of(const std::string& path, const Seen& seen,
                                  RootDirectoryPtr root) const {
  Arrival arrival;
  arrival.file = selection_.path_of(path);
  arrival.relative = path;
  arrival.job = number_;
  arrival.below = {std::move(root), path, seen.directory};
  arrival.seen = seen.file;
  return arrival;
}

void FolderWatcher::tell(Handout::News news, const std::string& why) const {
  if (news == Handout::News::holds_back) tell(Severity::warning, "waiting: " + why);
  if (news == Handout::News::goes_on) tell(Severity::info, "works again");
  if (news == Handout::News::nothing_waits) tell(Severity::info, "nothing waits any more");
}

void FolderWatcher::tell(Severity severity, const std::string& what) const {
  if (tell_) tell_(number_, severity, printable(options_.root.native()) + ": " + what);
}

void FolderWatcher::wake() const { ::eventfd_write(wake_.get(), 1); }

void FolderWatcher::failed(std::exception_ptr failure) {
  {
    const std::lock_guard lock(mutex_);
    failure_ = std::move(failure);
  }
  ring_();
}

}  // namespace eckart::io
