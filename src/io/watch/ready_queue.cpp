#include "io/watch/ready_queue.hpp"

#include <algorithm>
#include <utility>

namespace eckart::io {
namespace {
constexpr std::size_t kMaxReady = 1024;
constexpr int kMaxBackoffFactor = 30;  // of the first wait
}  // namespace

bool ReadyQueue::has_capacity() const {
  const std::lock_guard lock(mutex_);
  return ready_.size() < kMaxReady;
}

void ReadyQueue::put(ReadyFile file) {
  const std::lock_guard lock(mutex_);
  Files& list = list_of(file);
  list.push_back(std::move(file));
  by_path_[list.back().path] = std::prev(list.end());
}

bool ReadyQueue::remove_ready(const std::string& path) {
  const auto place = by_path_.find(path);
  if (place == by_path_.end()) return false;
  list_of(*place->second).erase(place->second);
  by_path_.erase(place);
  return true;
}

bool ReadyQueue::changed(const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (remove_ready(path)) return false;
  const auto flight = in_flight_.find(path);
  if (flight == in_flight_.end()) return false;
  return flight->second.back.changed = true;
}

std::size_t ReadyQueue::mark_changed_below(const std::string& folder) {
  const std::lock_guard lock(mutex_);
  const std::string below = folder + '/';
  std::size_t count = 0;
  auto place = by_path_.lower_bound(below);
  for (; place != by_path_.end() && place->first.starts_with(below); ++count) {
    list_of(*place->second).erase(place->second);
    place = by_path_.erase(place);
  }
  auto flight = in_flight_.lower_bound(below);
  for (; flight != in_flight_.end() && flight->first.starts_with(below); ++flight)
    flight->second.back.changed = true;
  return count;
}

bool ReadyQueue::has(const std::string& path, const FileFingerprint& seen) {
  const std::lock_guard lock(mutex_);
  if (const auto place = by_path_.find(path); place != by_path_.end()) {
    return place->second->seen == seen || !remove_ready(path);
  }
  const auto flight = in_flight_.find(path);
  if (flight == in_flight_.end()) return false;
  if (flight->second.back.file.seen != seen) flight->second.back.changed = true;
  return true;
}

std::vector<ReadyQueue::FinishedFile> ReadyQueue::returned() {
  const std::lock_guard lock(mutex_);
  std::vector<FinishedFile> returned;
  for (const std::string& path : std::exchange(finished_paths_, {})) {
    const auto flight = in_flight_.find(path);
    returned.push_back(std::move(flight->second.back));
    in_flight_.erase(flight);
  }
  return returned;
}

void ReadyQueue::drop_ready() {
  const std::lock_guard lock(mutex_);
  ready_.clear();
  deferred_.clear();
  by_path_.clear();
}

std::optional<ReadyQueue::PoppedFile> ReadyQueue::take(Instant now) {
  const std::lock_guard lock(mutex_);
  if (is_empty()) return std::nullopt;
  if (backoff_ && (now < backoff_->until || !backoff_->probe.empty())) return std::nullopt;
  Files& list = ready_.empty() ? deferred_ : ready_;
  ReadyFile file = std::move(list.front());
  by_path_.erase(file.path);
  list.pop_front();
  if (!file.first_attempt) file.first_attempt = now;
  if (backoff_) {
    backoff_->probe = file.path;
    backoff_->is_new_probe = file.deferrals == 0;
  }
  const PoppedFile taken{file.path, file.seen, file.root,
                         now - *file.first_attempt >= retry_timeout_,
                         ready_.size() == kMaxReady / 2};
  in_flight_[taken.path].back = {std::move(file), FinishStatus::settled, false,
                                 taken.is_last_attempt};
  return taken;
}

std::optional<Instant> ReadyQueue::retry_at() const {
  const std::lock_guard lock(mutex_);
  if (!backoff_ || !backoff_->probe.empty() || is_empty()) return std::nullopt;
  return backoff_->until;
}

ReadyQueue::BackoffChange ReadyQueue::finished(const std::string& path, FinishStatus ending,
                                               const std::string& why, Instant now) {
  const std::lock_guard lock(mutex_);
  const auto flight = in_flight_.find(path);
  if (flight == in_flight_.end() || flight->second.finished) return BackoffChange::none;
  flight->second.finished = true;
  flight->second.back.ending = ending;
  finished_paths_.push_back(path);
  return update_backoff(path, ending, why, now);
}

ReadyQueue::BackoffChange ReadyQueue::update_backoff(const std::string& path, FinishStatus ending,
                                                     const std::string& why, Instant now) {
  const bool was_held = backoff_.has_value();
  if (was_held && path != backoff_->probe)
    return BackoffChange::none;  // was popped before the backoff
  if (ending != FinishStatus::environment) {
    backoff_.reset();
    return was_held ? BackoffChange::ended : BackoffChange::none;
  }
  return hold(why, false, now);
}

ReadyQueue::BackoffChange ReadyQueue::hold(const std::string& why, bool refused, Instant now) {
  const bool was_held = backoff_.has_value();
  auto wait = backoff_step_;
  if (was_held) {
    // A file that was deferred before and fails again says little about the others.
    const bool says_more = refused || backoff_->is_new_probe;
    wait = says_more ? std::min(2 * backoff_->wait, kMaxBackoffFactor * backoff_step_)
                     : backoff_->wait;
  }
  backoff_ = Backoff{wait, now + wait, {}, false, why, refused};
  return was_held ? BackoffChange::none : BackoffChange::began;
}

std::optional<Instant> ReadyQueue::backoff_until(Instant now) const {
  const std::lock_guard lock(mutex_);
  if (!backoff_ || backoff_->until <= now) return std::nullopt;
  return backoff_->until;
}

ReadyQueue::BackoffChange ReadyQueue::refused(const std::string& why, Instant now) {
  const std::lock_guard lock(mutex_);
  return hold(why, true, now);
}

ReadyQueue::BackoffChange ReadyQueue::answered() {
  const std::lock_guard lock(mutex_);
  if (!backoff_ || !backoff_->refused) return BackoffChange::none;
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
      state.oldest = std::min(state.oldest.value_or(file.came), file.came);
  }
  state.backoff_reason = backoff_ ? backoff_->why : std::string();
}

}  // namespace eckart::io
