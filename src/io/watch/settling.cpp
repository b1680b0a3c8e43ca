#include "io/watch/settling.hpp"

#include <algorithm>

namespace eckart::io {
namespace {
constexpr int kLongestWait = 30;  // times the first
}  // namespace

Settling::Settling(const WatchOptions& options)
    : settle_(options.settle),
      patience_(options.patience),
      back_off_(options.back_off),
      most_(options.most_pending) {}

bool Settling::changed(const std::string& path, const Seen& seen, Instant now) {
  const auto known = entries_.find(path);
  if (known != entries_.end()) {
    restart(*known, seen, now);
    return true;
  }
  if (!has_room()) return false;
  insert({.path = path, .seen = seen, .came = now}, now, now);
  return true;
}

bool Settling::found(const std::string& path, const Seen& seen, Instant still_since, Instant now) {
  const auto known = entries_.find(path);
  if (known != entries_.end()) {
    if (known->second.file.seen != seen) restart(*known, seen, now);
    return true;
  }
  if (!has_room()) return false;
  insert({.path = path, .seen = seen, .came = now}, still_since, now);
  return true;
}

void Settling::again(ReadyFile file, Instant now) {
  const Instant end = file.first_try.value_or(now) + patience_;
  const Instant later = now + back_off_ * (std::int64_t(1) << std::min(file.tries, 20));
  ++file.tries;
  insert(std::move(file), now - settle_, end > now ? std::min(later, end) : now + back_off_);
}

void Settling::back(ReadyFile file, Instant now) {
  const Instant later =
      now + std::min(back_off_ * (std::int64_t(1) << std::min(file.deferrals, 20)),
                     kLongestWait * back_off_);
  ++file.deferrals;
  insert(std::move(file), now - settle_, later);
}

void Settling::forget(const std::string& path) {
  const auto known = entries_.find(path);
  if (known == entries_.end()) return;
  queue_.erase(known->second.place);
  came_.erase(came_.find(known->second.file.came));
  entries_.erase(known);
}

void Settling::delay(const std::string& path, Instant now) {
  const auto known = entries_.find(path);
  if (known == entries_.end()) return;
  queue_.erase(known->second.place);
  known->second.not_before = now + back_off_;
  queue(*known);
}

std::size_t Settling::forget_below(const std::string& folder) {
  const std::string below = folder + '/';
  std::size_t count = 0;
  auto entry = entries_.lower_bound(below);
  for (; entry != entries_.end() && entry->first.starts_with(below); ++count) {
    queue_.erase(entry->second.place);
    came_.erase(came_.find(entry->second.file.came));
    entry = entries_.erase(entry);
  }
  return count;
}

std::optional<Instant> Settling::oldest() const {
  if (came_.empty()) return std::nullopt;
  return *came_.begin();
}

const std::string* Settling::due(Instant now) const {
  if (queue_.empty() || queue_.begin()->first.first > now) return nullptr;
  return &queue_.begin()->second->first;
}

std::optional<ReadyFile> Settling::looked(const std::string& path, const Seen& seen, Instant now) {
  const auto known = entries_.find(path);
  if (known == entries_.end()) return std::nullopt;
  if (known->second.file.seen != seen) {
    restart(*known, seen, now);
    return std::nullopt;
  }
  ReadyFile file = std::move(known->second.file);
  file.path = known->first;
  forget(file.path);
  return file;
}

std::optional<Instant> Settling::next_due() const {
  if (queue_.empty()) return std::nullopt;
  return queue_.begin()->first.first;
}

void Settling::insert(ReadyFile file, Instant still_since, Instant not_before) {
  forget(file.path);
  const std::string path = std::exchange(file.path, {});
  came_.insert(file.came);
  const auto entry = entries_.emplace(path, Entry{std::move(file), still_since, not_before, {}});
  queue(*entry.first);
}

/// Its stillness begins anew, and where it looks different, so does all that is known of it.
void Settling::restart(Known& known, const Seen& seen, Instant now) {
  Entry& entry = known.second;
  queue_.erase(entry.place);
  entry.still_since = now;
  if (entry.file.seen != seen) {
    entry.file = {.path = {}, .seen = seen, .came = entry.file.came};
    entry.not_before = now;
  }
  queue(known);
}

void Settling::queue(Known& known) {
  Entry& entry = known.second;
  entry.place = {std::max(entry.still_since + settle_, entry.not_before), number_++};
  queue_.emplace(entry.place, &known);
}

}  // namespace eckart::io
