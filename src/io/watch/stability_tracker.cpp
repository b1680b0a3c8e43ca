#include "io/watch/stability_tracker.hpp"

#include <algorithm>

namespace eckart::io {
StabilityTracker::StabilityTracker(const WatchOptions& options)
    : settle_time_(options.settle_time),
      retry_timeout_(options.retry_timeout),
      initial_backoff_(options.initial_backoff),
      max_pending_(options.max_pending) {}

bool StabilityTracker::add_changed(const std::string& path, const FileFingerprint& fingerprint,
                                   Instant now) {
  const auto pending = pending_.find(path);
  if (pending != pending_.end()) {
    restart_settle_time(*pending, fingerprint, now);
    return true;
  }
  if (!has_capacity()) return false;
  insert({.path = path, .fingerprint = fingerprint, .arrived_at = now}, now, now);
  return true;
}

bool StabilityTracker::add_scanned(const std::string& path, const FileFingerprint& fingerprint,
                                   Instant stable_since, Instant now) {
  const auto pending = pending_.find(path);
  if (pending != pending_.end()) {
    if (pending->second.file.fingerprint != fingerprint)
      restart_settle_time(*pending, fingerprint, now);
    return true;
  }
  if (!has_capacity()) return false;
  insert({.path = path, .fingerprint = fingerprint, .arrived_at = now}, stable_since, now);
  return true;
}

void StabilityTracker::add_incomplete(ReadyFile file, Instant now) {
  const Instant timeout_at = file.first_attempt_at.value_or(now) + retry_timeout_;
  const Instant retry_at =
      now + initial_backoff_ * (std::int64_t(1) << std::min(file.incomplete_attempts, 20));
  ++file.incomplete_attempts;
  insert(std::move(file), now - settle_time_,
         timeout_at > now ? std::min(retry_at, timeout_at) : now + initial_backoff_);
}

void StabilityTracker::add_deferred(ReadyFile file, Instant now) {
  const Instant retry_at =
      now + std::min(initial_backoff_ * (std::int64_t(1) << std::min(file.deferrals, 20)),
                     kMaxBackoffFactor * initial_backoff_);
  ++file.deferrals;
  insert(std::move(file), now - settle_time_, retry_at);
}

void StabilityTracker::remove(const std::string& path) {
  const auto pending = pending_.find(path);
  if (pending == pending_.end()) return;
  queue_.erase(pending->second.queue_key);
  arrival_times_.erase(arrival_times_.find(pending->second.file.arrived_at));
  pending_.erase(pending);
}

void StabilityTracker::postpone_check(const std::string& path, Instant now) {
  const auto pending = pending_.find(path);
  if (pending == pending_.end()) return;
  queue_.erase(pending->second.queue_key);
  pending->second.not_before = now + initial_backoff_;
  schedule(*pending);
}

std::size_t StabilityTracker::remove_below(const std::string& folder) {
  const std::string below = folder + '/';
  std::size_t count = 0;
  auto entry = pending_.lower_bound(below);
  for (; entry != pending_.end() && entry->first.starts_with(below); ++count) {
    queue_.erase(entry->second.queue_key);
    arrival_times_.erase(arrival_times_.find(entry->second.file.arrived_at));
    entry = pending_.erase(entry);
  }
  return count;
}

std::optional<Instant> StabilityTracker::oldest_arrival() const {
  if (arrival_times_.empty()) return std::nullopt;
  return *arrival_times_.begin();
}

const std::string* StabilityTracker::due_path(Instant now) const {
  if (queue_.empty() || queue_.begin()->first.first > now) return nullptr;
  return &queue_.begin()->second->first;
}

std::optional<ReadyFile> StabilityTracker::take_if_stable(const std::string& path,
                                                          const FileFingerprint& fingerprint,
                                                          Instant now) {
  const auto pending = pending_.find(path);
  if (pending == pending_.end()) return std::nullopt;
  if (pending->second.file.fingerprint != fingerprint) {
    restart_settle_time(*pending, fingerprint, now);
    return std::nullopt;
  }
  ReadyFile file = std::move(pending->second.file);
  file.path = pending->first;
  remove(file.path);
  return file;
}

std::optional<Instant> StabilityTracker::next_due() const {
  if (queue_.empty()) return std::nullopt;
  return queue_.begin()->first.first;
}

void StabilityTracker::insert(ReadyFile file, Instant stable_since, Instant not_before) {
  remove(file.path);
  const std::string path = std::exchange(file.path, {});
  arrival_times_.insert(file.arrived_at);
  const auto entry = pending_.emplace(path, Entry{std::move(file), stable_since, not_before, {}});
  schedule(*entry.first);
}

/// Restarts the settle time. If the fingerprint differs, the attempts and deferrals are reset too.
void StabilityTracker::restart_settle_time(PendingNode& node, const FileFingerprint& fingerprint,
                                           Instant now) {
  Entry& entry = node.second;
  queue_.erase(entry.queue_key);
  entry.stable_since = now;
  if (entry.file.fingerprint != fingerprint) {
    entry.file = {.path = {}, .fingerprint = fingerprint, .arrived_at = entry.file.arrived_at};
    entry.not_before = now;
  }
  schedule(node);
}

void StabilityTracker::schedule(PendingNode& node) {
  Entry& entry = node.second;
  entry.queue_key = {std::max(entry.stable_since + settle_time_, entry.not_before),
                     next_sequence_++};
  queue_.emplace(entry.queue_key, &node);
}

}  // namespace eckart::io
