#include "io/watch/stability_tracker.hpp"

#include <algorithm>

namespace eckart::io {
namespace {
constexpr int kMaxBackoffFactor = 30;  // of the first wait
}  // namespace

StabilityTracker::StabilityTracker(const WatchOptions& options)
    : settle_time_(options.settle),
      retry_timeout_(options.retry_timeout),
      backoff_step_(options.backoff),
      max_pending_(options.max_pending) {}

bool StabilityTracker::changed(const std::string& path, const FileFingerprint& seen, Instant now) {
  const auto known = pending_.find(path);
  if (known != pending_.end()) {
    restart_wait(*known, seen, now);
    return true;
  }
  if (!has_capacity()) return false;
  insert({.path = path, .seen = seen, .came = now}, now, now);
  return true;
}

bool StabilityTracker::found(const std::string& path, const FileFingerprint& seen,
                             Instant stable_since, Instant now) {
  const auto known = pending_.find(path);
  if (known != pending_.end()) {
    if (known->second.file.seen != seen) restart_wait(*known, seen, now);
    return true;
  }
  if (!has_capacity()) return false;
  insert({.path = path, .seen = seen, .came = now}, stable_since, now);
  return true;
}

void StabilityTracker::again(ReadyFile file, Instant now) {
  const Instant end = file.first_attempt.value_or(now) + retry_timeout_;
  const Instant later = now + backoff_step_ * (std::int64_t(1) << std::min(file.tries, 20));
  ++file.tries;
  insert(std::move(file), now - settle_time_,
         end > now ? std::min(later, end) : now + backoff_step_);
}

void StabilityTracker::back(ReadyFile file, Instant now) {
  const Instant later =
      now + std::min(backoff_step_ * (std::int64_t(1) << std::min(file.deferrals, 20)),
                     kMaxBackoffFactor * backoff_step_);
  ++file.deferrals;
  insert(std::move(file), now - settle_time_, later);
}

void StabilityTracker::forget(const std::string& path) {
  const auto known = pending_.find(path);
  if (known == pending_.end()) return;
  queue_.erase(known->second.queue_key);
  first_seen_times_.erase(first_seen_times_.find(known->second.file.came));
  pending_.erase(known);
}

void StabilityTracker::postpone_check(const std::string& path, Instant now) {
  const auto known = pending_.find(path);
  if (known == pending_.end()) return;
  queue_.erase(known->second.queue_key);
  known->second.not_before = now + backoff_step_;
  queue(*known);
}

std::size_t StabilityTracker::forget_below(const std::string& folder) {
  const std::string below = folder + '/';
  std::size_t count = 0;
  auto entry = pending_.lower_bound(below);
  for (; entry != pending_.end() && entry->first.starts_with(below); ++count) {
    queue_.erase(entry->second.queue_key);
    first_seen_times_.erase(first_seen_times_.find(entry->second.file.came));
    entry = pending_.erase(entry);
  }
  return count;
}

std::optional<Instant> StabilityTracker::oldest() const {
  if (first_seen_times_.empty()) return std::nullopt;
  return *first_seen_times_.begin();
}

const std::string* StabilityTracker::due(Instant now) const {
  if (queue_.empty() || queue_.begin()->first.first > now) return nullptr;
  return &queue_.begin()->second->first;
}

std::optional<ReadyFile> StabilityTracker::looked(const std::string& path,
                                                  const FileFingerprint& seen, Instant now) {
  const auto known = pending_.find(path);
  if (known == pending_.end()) return std::nullopt;
  if (known->second.file.seen != seen) {
    restart_wait(*known, seen, now);
    return std::nullopt;
  }
  ReadyFile file = std::move(known->second.file);
  file.path = known->first;
  forget(file.path);
  return file;
}

std::optional<Instant> StabilityTracker::next_due() const {
  if (queue_.empty()) return std::nullopt;
  return queue_.begin()->first.first;
}

void StabilityTracker::insert(ReadyFile file, Instant stable_since, Instant not_before) {
  forget(file.path);
  const std::string path = std::exchange(file.path, {});
  first_seen_times_.insert(file.came);
  const auto entry = pending_.emplace(path, Entry{std::move(file), stable_since, not_before, {}});
  queue(*entry.first);
}

/// Restarts the settle time. If the fingerprint differs, the attempts and deferrals are reset too.
void StabilityTracker::restart_wait(PendingNode& known, const FileFingerprint& seen, Instant now) {
  Entry& entry = known.second;
  queue_.erase(entry.queue_key);
  entry.stable_since = now;
  if (entry.file.seen != seen) {
    entry.file = {.path = {}, .seen = seen, .came = entry.file.came};
    entry.not_before = now;
  }
  queue(known);
}

void StabilityTracker::queue(PendingNode& known) {
  Entry& entry = known.second;
  entry.queue_key = {std::max(entry.stable_since + settle_time_, entry.not_before),
                     next_sequence_++};
  queue_.emplace(entry.queue_key, &known);
}

}  // namespace eckart::io
