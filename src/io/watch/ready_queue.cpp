#include "io/watch/ready_queue.hpp"

#include <algorithm>
#include <utility>

namespace eckart::io {
namespace {
constexpr std::size_t kMaxReady = 1024;
}  // namespace

bool ReadyQueue::has_capacity() const {
  const std::lock_guard lock(mutex_);
  return ready_.size() < kMaxReady;
}

void ReadyQueue::push(ReadyFile file) {
  const std::lock_guard lock(mutex_);
  Files& list = list_of(file);
  list.push_back(std::move(file));
  by_path_[list.back().path] = std::prev(list.end());
}

bool ReadyQueue::remove_ready(const std::string& path) {
  const auto ready = by_path_.find(path);
  if (ready == by_path_.end()) return false;
  list_of(*ready->second).erase(ready->second);
  by_path_.erase(ready);
  return true;
}

bool ReadyQueue::mark_changed(const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (remove_ready(path)) return false;
  const auto in_flight = in_flight_.find(path);
  if (in_flight == in_flight_.end()) return false;
  return in_flight->second.result.has_changed = true;
}

std::size_t ReadyQueue::mark_changed_below(const std::string& folder) {
  const std::lock_guard lock(mutex_);
  const std::string below = folder + '/';
  std::size_t count = 0;
  auto ready = by_path_.lower_bound(below);
  for (; ready != by_path_.end() && ready->first.starts_with(below); ++count) {
    list_of(*ready->second).erase(ready->second);
    ready = by_path_.erase(ready);
  }
  auto in_flight = in_flight_.lower_bound(below);
  for (; in_flight != in_flight_.end() && in_flight->first.starts_with(below); ++in_flight)
    in_flight->second.result.has_changed = true;
  return count;
}

bool ReadyQueue::update_from_scan(const std::string& path, const FileFingerprint& fingerprint) {
  const std::lock_guard lock(mutex_);
  if (const auto ready = by_path_.find(path); ready != by_path_.end()) {
    return ready->second->fingerprint == fingerprint || !remove_ready(path);
  }
  const auto in_flight = in_flight_.find(path);
  if (in_flight == in_flight_.end()) return false;
  if (in_flight->second.result.file.fingerprint != fingerprint)
    in_flight->second.result.has_changed = true;
  return true;
}

std::vector<ReadyQueue::FinishedFile> ReadyQueue::take_finished() {
  const std::lock_guard lock(mutex_);
  std::vector<FinishedFile> files;
  for (const std::string& path : std::exchange(finished_paths_, {})) {
    const auto in_flight = in_flight_.find(path);
    files.push_back(std::move(in_flight->second.result));
    in_flight_.erase(in_flight);
  }
  return files;
}

void ReadyQueue::drop_ready() {
  const std::lock_guard lock(mutex_);
  ready_.clear();
  deferred_.clear();
  by_path_.clear();
}

std::optional<ReadyQueue::PoppedFile> ReadyQueue::pop(Instant now) {
  const std::lock_guard lock(mutex_);
  if (is_empty()) return std::nullopt;
  if (backoff_ && (now < backoff_->until || !backoff_->probe.empty())) return std::nullopt;
  Files& list = ready_.empty() ? deferred_ : ready_;
  ReadyFile file = std::move(list.front());
  by_path_.erase(file.path);
  list.pop_front();
  if (!file.first_attempt_at) file.first_attempt_at = now;
  if (backoff_) {
    backoff_->probe = file.path;
    backoff_->is_new_probe = file.deferrals == 0;
  }
  const PoppedFile popped{.path = file.path,
                          .fingerprint = file.fingerprint,
                          .root = file.root,
                          .attempt = file.incomplete_attempts + 1,
                          .is_last_attempt = now - *file.first_attempt_at >= retry_timeout_,
                          .needs_refill = ready_.size() == kMaxReady / 2};
  in_flight_[popped.path].result = {std::move(file), FinishStatus::done, false,
                                    popped.is_last_attempt};
  return popped;
}

std::optional<Instant> ReadyQueue::retry_at() const {
  const std::lock_guard lock(mutex_);
  if (!backoff_ || !backoff_->probe.empty() || is_empty()) return std::nullopt;
  return backoff_->until;
}

ReadyQueue::BackoffChange ReadyQueue::finish(const std::string& path, FinishStatus status,
                                             const std::string& why, Instant now) {
  const std::lock_guard lock(mutex_);
  const auto in_flight = in_flight_.find(path);
  if (in_flight == in_flight_.end() || in_flight->second.is_finished) return BackoffChange::none;
  in_flight->second.is_finished = true;
  in_flight->second.result.status = status;
  finished_paths_.push_back(path);
  return update_backoff(path, status, why, now);
}

ReadyQueue::BackoffChange ReadyQueue::update_backoff(const std::string& path, FinishStatus status,
                                                     const std::string& why, Instant now) {
  const bool had_backoff = backoff_.has_value();
  if (had_backoff && path != backoff_->probe)
    return BackoffChange::none;  // was popped before the backoff
  if (status != FinishStatus::environment_error) {
    backoff_.reset();
    return had_backoff ? BackoffChange::ended : BackoffChange::none;
  }
  return start_backoff(why, false, now);
}

ReadyQueue::BackoffChange ReadyQueue::start_backoff(const std::string& why, bool is_from_filter,
                                                    Instant now) {
  const bool had_backoff = backoff_.has_value();
  auto duration = initial_backoff_;
  if (had_backoff) {
    // A file that was deferred before and fails again says little about the others.
    const bool is_new_failure = is_from_filter || backoff_->is_new_probe;
    duration = is_new_failure
                   ? std::min(2 * backoff_->duration, kMaxBackoffFactor * initial_backoff_)
                   : backoff_->duration;
  }
  backoff_ = Backoff{duration, now + duration, {}, false, why, is_from_filter};
  return had_backoff ? BackoffChange::none : BackoffChange::began;
}

std::optional<Instant> ReadyQueue::backoff_until(Instant now) const {
  const std::lock_guard lock(mutex_);
  if (!backoff_ || backoff_->until <= now) return std::nullopt;
  return backoff_->until;
}

ReadyQueue::BackoffChange ReadyQueue::start_filter_backoff(const std::string& why, Instant now) {
  const std::lock_guard lock(mutex_);
  return start_backoff(why, true, now);
}

ReadyQueue::BackoffChange ReadyQueue::end_filter_backoff() {
  const std::lock_guard lock(mutex_);
  if (!backoff_ || !backoff_->is_from_filter) return BackoffChange::none;
  backoff_.reset();
  return BackoffChange::ended;
}

ReadyQueue::BackoffChange ReadyQueue::end_backoff_if_idle() {
  const std::lock_guard lock(mutex_);
  if (!backoff_ || !is_empty() || !in_flight_.empty()) return BackoffChange::none;
  backoff_.reset();
  return BackoffChange::became_idle;
}

void ReadyQueue::fill_state(WatchState& state) const {
  const std::lock_guard lock(mutex_);
  state.ready = ready_.size() + deferred_.size();
  state.in_flight = in_flight_.size();
  for (const Files* files : {&ready_, &deferred_}) {
    for (const ReadyFile& file : *files)
      state.oldest_arrival =
          std::min(state.oldest_arrival.value_or(file.arrived_at), file.arrived_at);
  }
  state.backoff_reason = backoff_ ? backoff_->why : std::string();
}

}  // namespace eckart::io
