#include "io/watch/handout.hpp"

#include <algorithm>
#include <utility>

namespace eckart::io {
namespace {
constexpr std::size_t kMostReady = 1024;
constexpr int kLongestWait = 30;  // times the first
}  // namespace

bool Handout::has_room() const {
  const std::lock_guard lock(mutex_);
  return ready_.size() < kMostReady;
}

void Handout::put(ReadyFile file) {
  const std::lock_guard lock(mutex_);
  Files& list = list_of(file);
  list.push_back(std::move(file));
  places_[list.back().path] = std::prev(list.end());
}

bool Handout::remove_ready(const std::string& path) {
  const auto place = places_.find(path);
  if (place == places_.end()) return false;
  list_of(*place->second).erase(place->second);
  places_.erase(place);
  return true;
}

bool Handout::changed(const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (remove_ready(path)) return false;
  const auto flight = in_flight_.find(path);
  if (flight == in_flight_.end()) return false;
  return flight->second.back.changed = true;
}

std::size_t Handout::changed_below(const std::string& folder) {
  const std::lock_guard lock(mutex_);
  const std::string below = folder + '/';
  std::size_t count = 0;
  auto place = places_.lower_bound(below);
  for (; place != places_.end() && place->first.starts_with(below); ++count) {
    list_of(*place->second).erase(place->second);
    place = places_.erase(place);
  }
  auto flight = in_flight_.lower_bound(below);
  for (; flight != in_flight_.end() && flight->first.starts_with(below); ++flight)
    flight->second.back.changed = true;
  return count;
}

bool Handout::has(const std::string& path, const Seen& seen) {
  const std::lock_guard lock(mutex_);
  if (const auto place = places_.find(path); place != places_.end()) {
    return place->second->seen == seen || !remove_ready(path);
  }
  const auto flight = in_flight_.find(path);
  if (flight == in_flight_.end()) return false;
  if (flight->second.back.file.seen != seen) flight->second.back.changed = true;
  return true;
}

std::vector<Handout::Returned> Handout::returned() {
  const std::lock_guard lock(mutex_);
  std::vector<Returned> returned;
  for (const std::string& path : std::exchange(finished_, {})) {
    const auto flight = in_flight_.find(path);
    returned.push_back(std::move(flight->second.back));
    in_flight_.erase(flight);
  }
  return returned;
}

void Handout::drop_ready() {
  const std::lock_guard lock(mutex_);
  ready_.clear();
  deferred_.clear();
  places_.clear();
}

std::optional<Handout::Taken> Handout::take(Instant now) {
  const std::lock_guard lock(mutex_);
  if (is_empty()) return std::nullopt;
  if (hold_ && (now < hold_->until || !hold_->probe.empty())) return std::nullopt;
  Files& list = ready_.empty() ? deferred_ : ready_;
  ReadyFile file = std::move(list.front());
  places_.erase(file.path);
  list.pop_front();
  if (!file.first_try) file.first_try = now;
  if (hold_) {
    hold_->probe = file.path;
    hold_->is_new_probe = file.deferrals == 0;
  }
  const Taken taken{file.path, file.seen, file.root, now - *file.first_try >= patience_,
                    ready_.size() == kMostReady / 2};
  in_flight_[taken.path].back = {std::move(file), Ending::settled, false, taken.last_try};
  return taken;
}

std::optional<Instant> Handout::held_until() const {
  const std::lock_guard lock(mutex_);
  if (!hold_ || !hold_->probe.empty() || is_empty()) return std::nullopt;
  return hold_->until;
}

Handout::News Handout::finished(const std::string& path, Ending ending, const std::string& why,
                                Instant now) {
  const std::lock_guard lock(mutex_);
  const auto flight = in_flight_.find(path);
  if (flight == in_flight_.end() || flight->second.finished) return News::none;
  flight->second.finished = true;
  flight->second.back.ending = ending;
  finished_.push_back(path);
  return hold_after(path, ending, why, now);
}

Handout::News Handout::hold_after(const std::string& path, Ending ending, const std::string& why,
                                  Instant now) {
  const bool was_held = hold_.has_value();
  if (was_held && path != hold_->probe) return News::none;  // was taken before
  if (ending != Ending::environment) {
    hold_.reset();
    return was_held ? News::goes_on : News::none;
  }
  return hold(why, false, now);
}

Handout::News Handout::hold(const std::string& why, bool refused, Instant now) {
  const bool was_held = hold_.has_value();
  auto wait = back_off_;
  if (was_held) {
    // What has failed before, and again, says little of the others.
    const bool says_more = refused || hold_->is_new_probe;
    wait = says_more ? std::min(2 * hold_->wait, kLongestWait * back_off_) : hold_->wait;
  }
  hold_ = Hold{wait, now + wait, {}, false, why, refused};
  return was_held ? News::none : News::holds_back;
}

std::optional<Instant> Handout::holds_until(Instant now) const {
  const std::lock_guard lock(mutex_);
  if (!hold_ || hold_->until <= now) return std::nullopt;
  return hold_->until;
}

Handout::News Handout::refused(const std::string& why, Instant now) {
  const std::lock_guard lock(mutex_);
  return hold(why, true, now);
}

Handout::News Handout::answered() {
  const std::lock_guard lock(mutex_);
  if (!hold_ || !hold_->refused) return News::none;
  hold_.reset();
  return News::goes_on;
}

Handout::News Handout::nothing_settles() {
  const std::lock_guard lock(mutex_);
  if (!hold_ || !is_empty() || !in_flight_.empty()) return News::none;
  hold_.reset();
  return News::nothing_waits;
}

void Handout::describe(WatchState& state) const {
  const std::lock_guard lock(mutex_);
  state.ready = ready_.size() + deferred_.size();
  state.in_flight = in_flight_.size();
  for (const Files* files : {&ready_, &deferred_}) {
    for (const ReadyFile& file : *files)
      state.oldest = std::min(state.oldest.value_or(file.came), file.came);
  }
  state.degraded = hold_ ? hold_->why : std::string();
}

}  // namespace eckart::io
