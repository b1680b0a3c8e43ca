#include "pipeline/activity.hpp"

#include <time.h>

#include <algorithm>

#include "core/printable.hpp"

namespace eckart {
namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr seconds kMaxTick{5};
constexpr std::chrono::milliseconds kMovement{10};  // of CPU time, between two checks

nanoseconds cpu_time(clockid_t clock) {
  timespec time{};
  if (clock_gettime(clock, &time) != 0) return {};
  return seconds(time.tv_sec) + nanoseconds(time.tv_nsec);
}

/// The first of some files, and how many there are besides.
std::string names(const std::vector<Activity::File>& files) {
  if (files.empty()) return {};
  std::string text = printable(files.front().file.native());
  if (files.size() > 1) text += " and " + std::to_string(files.size() - 1) + " more";
  return text;
}

std::string seconds_text(Activity::Duration time) {
  return std::to_string(std::chrono::duration_cast<seconds>(time).count()) + " s";
}

}  // namespace

Activity::Place Activity::begin(Step step) {
  Running running{.step = std::move(step), .begin = Clock::now()};
  if (running.step.idle_limit.count() > 0)
    running.has_thread_clock = pthread_getcpuclockid(pthread_self(), &running.thread_clock) == 0;
  const std::lock_guard lock(mutex_);
  ++changes_;
  return steps_.insert(steps_.end(), std::move(running));
}

void Activity::end(Place place) {
  const std::lock_guard lock(mutex_);
  ++changes_;
  steps_.erase(place);
}

void Activity::set_waiting(Place place, bool waits) {
  const std::lock_guard lock(mutex_);
  ++changes_;
  place->waits = waits;
  place->begin = Clock::now();  // what it does after the wait is new work
  place->age = place->idle = {};
}

std::optional<Activity::Stall> Activity::check(Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  const Clock::time_point before = std::exchange(checked_, std::max(now, checked_));
  const Duration tick = std::clamp<Duration>(now - before, Duration(0), kMaxTick);
  bool is_at_work = false;
  std::optional<Stall> worst;
  Duration most_over{};
  for (Running& running : steps_) {
    if (running.waits) continue;
    is_at_work = true;
    const Duration passed =
        running.begin > before ? std::min(tick, std::max(now - running.begin, Duration(0))) : tick;
    running.age += passed;
    running.idle += passed;
    if (running.has_thread_clock) {
      const nanoseconds cpu = cpu_time(running.thread_clock);
      if (cpu - running.cpu >= kMovement) running.idle = {}, running.cpu = cpu;
    }
    Duration over = running.age - running.step.limit;
    if (running.has_thread_clock) over = std::max(over, running.idle - running.step.idle_limit);
    if (over <= Duration(0) || (worst && over <= most_over)) continue;
    most_over = over;
    worst = Stall{running.step.stage, running.step.files,
                  std::chrono::duration_cast<seconds>(running.age)};
  }
  const bool moved = std::exchange(changes_before_, changes_) != changes_;
  standstill_ = moved || is_at_work ? Duration(0) : standstill_ + tick;
  return worst;
}

Activity::Duration Activity::standstill() const {
  const std::lock_guard lock(mutex_);
  return standstill_;
}

std::string Activity::text() const {
  constexpr std::size_t kMaxNamed = 3;
  const std::lock_guard lock(mutex_);
  std::vector<const Running*> running;
  for (const Running& step : steps_) {
    if (!step.waits) running.push_back(&step);
  }
  std::sort(running.begin(), running.end(),
            [](const Running* a, const Running* b) { return a->begin < b->begin; });
  std::string text;
  for (std::size_t i = 0; i < std::min(running.size(), kMaxNamed); ++i) {
    const std::string files = names(running[i]->step.files);
    text += (i > 0 ? ", " : "") + running[i]->step.stage + (files.empty() ? "" : " of " + files) +
            " for " + seconds_text(Clock::now() - running[i]->begin);
  }
  if (running.size() > kMaxNamed)
    text += ", and " + std::to_string(running.size() - kMaxNamed) + " more";
  return text;
}

Activity::File file_of(const WorkItem& item) {
  return {item.file, item.relative, item.job, item.state};
}

std::string to_string(const Activity::Stall& stall) {
  const std::string files = names(stall.files);
  return stall.stage + " has been at work" + (files.empty() ? "" : " on " + files) + " for " +
         seconds_text(stall.age) + ", longer than its work explains";
}

}  // namespace eckart
