#include "io/watch/folder_watcher.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "codec/codec.hpp"
#include "core/error.hpp"
#include "io/error_text.hpp"
#include "io/watch/file_observation.hpp"
#include "text/printable.hpp"
#include "text/unread_files_text.hpp"

namespace eckart::io {
namespace {

constexpr int kMaxFilesPerStep = 512;  // between two reads of events

files::FileDescriptor make_wake_descriptor() {
  files::FileDescriptor wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  const int error = errno;
  if (wake) return wake;
  std::string message = "cannot watch folders: " + error_text(error);
  if (error == EMFILE)
    message += ". Raise the limit of open files: `ulimit -n`, or LimitNOFILE of a systemd unit";
  throw EnvironmentError(message);
}

std::string root_error_text(int error) {
  if (error == ELOOP)
    return "it, or a folder above it, has become a symbolic link, or is another link now; reload "
           "the configuration to follow it";
  return error_text(error);
}

}  // namespace

FolderWatcher::FolderWatcher(int watch_index, WatchOptions options, WorkFilter work_filter,
                             LogFunction log, std::function<void()> on_ready)
    : watch_index_(watch_index),
      options_(std::move(options)),
      root_path_(options_.root),
      path_filter_(options_),
      work_filter_(std::move(work_filter)),
      log_(std::move(log)),
      on_ready_(std::move(on_ready)),
      wake_descriptor_(make_wake_descriptor()),
      ready_queue_(options_),
      unread_tracker_(options_.rescan_interval),
      thread_(
          "watch" + std::to_string(watch_index), 1, [this](int) { run(); },
          [this](std::exception_ptr failure) { on_failure(std::move(failure)); }) {}

FolderWatcher::~FolderWatcher() { end(); }

void FolderWatcher::end() {
  stop_ = true;
  wake();
  thread_.join();
}

std::optional<SourceItem> FolderWatcher::pop() {
  {
    const std::lock_guard lock(mutex_);
    if (failure_) std::rethrow_exception(failure_);
  }
  const std::optional<ReadyQueue::PoppedFile> popped = ready_queue_.pop(Clock::now());
  if (!popped) return std::nullopt;
  if (popped->needs_refill) wake();
  SourceItem item = source_item_of(popped->path, popped->fingerprint, popped->root);
  item.attempt = popped->attempt;
  item.is_last_attempt = popped->is_last_attempt;
  return item;
}

void FolderWatcher::finish(const std::string& path, FinishStatus status, const std::string& why) {
  log_backoff(ready_queue_.finish(path, status, why, Clock::now()), why);
  on_ready_();
  wake();
}

void FolderWatcher::request_scan() {
  is_scan_requested_ = true;
  wake();
}

WatchState FolderWatcher::state() const {
  WatchState state;
  {
    const std::lock_guard lock(mutex_);
    state = state_;
  }
  ready_queue_.fill_state(state);
  const Instant since = busy_since_;
  if (since != Instant::max()) state.busy_since = since;
  return state;
}

void FolderWatcher::run() {
  while (!stop_) {
    check_root();
    for (ReadyQueue::FinishedFile& finished : ready_queue_.take_finished()) {
      if (root_) root_->on_file_finished(std::move(finished));
    }
    if (root_) {
      if (is_scan_requested_.exchange(false)) root_->request_scan();
      root_->read_events();
      root_->scan();
      update_unread_files();
      fill_ready_queue();
      if (!root_->has_pending()) log_backoff(ready_queue_.end_backoff_if_idle(), {});
    }
    if (root_) root_->close_directory();
    update_state();
    wait();
  }
}

void FolderWatcher::check_root() {
  const Instant now = Clock::now();
  if (now < next_root_check_ && !(root_ && root_->root_may_have_changed())) return;
  next_root_check_ = now + options_.root_check_interval;
  const DirectoryPtr found = Directory::adopt(root_path_.open());
  const int error = errno;
  const bool is_same = root_ && found && found->id() == root_->root()->id();
  if (is_same && !root_->root_may_have_changed()) return;
  if (root_) {
    root_errno_ = found ? 0 : error;
    close_root(found ? "the folder was moved, replaced or unmounted; waiting for it"
                     : "the folder is not available; waiting for it: " + root_error_text(error));
  }
  open_root();
}

void FolderWatcher::open_root() {
  RootDirectoryPtr root = RootDirectory::open(root_path_, options_.links);
  const DirectoryPtr directory = root ? root->open_below({}) : nullptr;
  const bool is_readable = directory && directory->open_for_reading();
  const int error = errno;
  const int earlier_error = std::exchange(root_errno_, is_readable ? 0 : error);
  if (is_readable) {
    if (!root_error_.empty()) log(Severity::info, "the folder is available again and is watched");
    root_error_.clear();
    root_.emplace(std::move(root), options_, path_filter_, ready_queue_, unread_tracker_,
                  [this](Severity severity, const std::string& what) { log(severity, what); });
  } else if (error != earlier_error) {
    root_error_ = root_error_text(error);
    log(Severity::warning, "the folder is not available; waiting for it: " + root_error_);
  }
}

/// Drops pending and ready files. Files in flight are finished as usual.
void FolderWatcher::close_root(const std::string& why) {
  log(Severity::warning, why);
  root_error_ = why;
  WatchState state;
  root_->fill_state(state);
  previous_overflows_ += state.overflows;
  root_.reset();
  unread_tracker_.clear();
  ready_queue_.drop_ready();
}

void FolderWatcher::fill_ready_queue() {
  bool has_new_files = false;
  for (int i = 0; i < kMaxFilesPerStep && !stop_ && can_fill_ready_queue(); ++i) {
    std::optional<ReadyFile> file = root_->next_ready();
    if (!file) break;
    file->root = root_->root();
    if (!passes_filter(*file)) continue;
    ready_queue_.push(std::move(*file));
    has_new_files = true;
  }
  if (has_new_files) on_ready_();
}

bool FolderWatcher::can_fill_ready_queue() const {
  return ready_queue_.has_capacity() && !ready_queue_.backoff_until(Clock::now());
}

/// If the filter throws EnvironmentError, the file is deferred and the filter is called again
/// later.
bool FolderWatcher::passes_filter(ReadyFile& file) {
  if (!work_filter_) return true;
  try {
    const bool passes = work_filter_(source_item_of(file.path, file.fingerprint, file.root),
                                     file.fingerprint.identity.state);
    log_backoff(ready_queue_.end_filter_backoff(), {});
    return passes;
  } catch (const EnvironmentError& error) {
    log_backoff(ready_queue_.start_filter_backoff(error.what(), Clock::now()), error.what());
    root_->on_file_finished({std::move(file), FinishStatus::environment_error});
    return false;
  }
}

void FolderWatcher::update_unread_files() {
  if (unread_tracker_.update(Clock::now()))
    log(Severity::warning,
        text::unread_files_text(unread_tracker_.present().by_extension()) +
            "; names with these extensions are read: " + codec::image_extensions());
}

void FolderWatcher::update_state() {
  WatchState state;
  if (root_) root_->fill_state(state);
  if (root_errno_ == ELOOP || (root_errno_ != 0 && !is_missing_error(root_errno_)))
    state.root_error = root_error_text(root_errno_);
  state.unread_files = unread_tracker_.present();
  state.unread_total = unread_tracker_.total();
  state.overflows += previous_overflows_;
  const std::lock_guard lock(mutex_);
  state_ = std::move(state);
}

/// Waits for an event, a call from another thread, or the next due time.
void FolderWatcher::wait() {
  Instant next = next_root_check_;
  const Instant now = Clock::now();
  if (root_)
    next =
        std::min({next, root_->next_work(can_fill_ready_queue()), unread_tracker_.next_update()});
  if (const auto backoff_end = ready_queue_.backoff_until(now)) next = std::min(next, *backoff_end);
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(std::max(next, now) - now);
  pollfd events[] = {{wake_descriptor_.get(), POLLIN, 0},
                     {root_ ? root_->descriptor() : -1, POLLIN, 0}};
  busy_since_ = Instant::max();
  const int found = ::poll(events, 2, int(left.count()));
  busy_since_ = Clock::now();
  if (found < 0) return;  // interrupted by a signal
  eventfd_t count = 0;
  if (events[0].revents) ::eventfd_read(wake_descriptor_.get(), &count);
}

SourceItem FolderWatcher::source_item_of(const std::string& path,
                                         const FileFingerprint& fingerprint,
                                         RootDirectoryPtr root) const {
  SourceItem item;
  item.file = path_filter_.path_of(path);
  item.relative = path;
  item.job = watch_index_;
  item.rooted_file = {std::move(root), path, fingerprint.directory};
  item.identity = fingerprint.identity;
  return item;
}

void FolderWatcher::log_backoff(ReadyQueue::BackoffChange change, const std::string& why) const {
  if (change == ReadyQueue::BackoffChange::began)
    log(Severity::warning, "paused; will retry: " + why);
  if (change == ReadyQueue::BackoffChange::ended) log(Severity::info, "resumed");
  if (change == ReadyQueue::BackoffChange::became_idle)
    log(Severity::info, "resumed; no files are pending");
}

void FolderWatcher::log(Severity severity, const std::string& what) const {
  if (log_) log_(watch_index_, severity, text::printable(options_.root.native()) + ": " + what);
}

void FolderWatcher::wake() const { ::eventfd_write(wake_descriptor_.get(), 1); }

void FolderWatcher::on_failure(std::exception_ptr failure) {
  {
    const std::lock_guard lock(mutex_);
    failure_ = std::move(failure);
  }
  on_ready_();
}

}  // namespace eckart::io
