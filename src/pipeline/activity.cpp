#include "pipeline/activity.hpp"

#include <time.h>

#include <algorithm>
#include <functional>
#include <thread>

#include "text/printable.hpp"

namespace eckart::pipeline {
namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr seconds kMaxTick{5};
constexpr std::chrono::milliseconds kMinCpuProgress{10};  // of CPU time, between two checks

nanoseconds cpu_time(clockid_t clock) {
  timespec time{};
  if (clock_gettime(clock, &time) != 0) return {};
  return seconds(time.tv_sec) + nanoseconds(time.tv_nsec);
}

/// Returns the first file name and the number of further files.
template <class AnyFile>
std::string names(const std::vector<AnyFile>& files) {
  if (files.empty()) return {};
  std::string text = text::printable(files.front().file.native());
  if (files.size() > 1) text += " and " + std::to_string(files.size() - 1) + " more";
  return text;
}

std::string seconds_text(Activity::Duration time) {
  return std::to_string(std::chrono::duration_cast<seconds>(time).count()) + " s";
}

}  // namespace

Activity::StepPosition Activity::begin(Step step) {
  RunningStep running{.step = std::move(step), .begin = Clock::now()};
  if (running.step.max_cpu_idle.count() > 0)
    running.has_thread_clock = pthread_getcpuclockid(pthread_self(), &running.thread_clock) == 0;
  Shard& shard = shards_[std::hash<std::thread::id>()(std::this_thread::get_id()) % shards_.size()];
  const std::lock_guard lock(shard.mutex);
  shard.changes += running.step.is_image_work;
  return {shard, shard.steps.insert(shard.steps.end(), std::move(running))};
}

void Activity::end(const StepPosition& position) {
  const std::lock_guard lock(position.shard.mutex);
  position.shard.changes += position.step->step.is_image_work;
  position.shard.steps.erase(position.step);
}

void Activity::set_waiting(const StepPosition& position, bool is_waiting) {
  const std::lock_guard lock(position.shard.mutex);
  RunningStep& running = *position.step;
  position.shard.changes += running.step.is_image_work;
  running.is_waiting = is_waiting;
  running.begin = Clock::now();  // the time limit starts again after a wait
  running.age = running.cpu_idle = {};
}

std::optional<Activity::Stall> Activity::check(Instant now) {
  const std::lock_guard lock(check_mutex_);
  const Instant before = std::exchange(last_check_, std::max(now, last_check_));
  const Duration tick = std::clamp<Duration>(now - before, Duration(0), kMaxTick);
  bool is_working = false;
  std::int64_t changes = 0;
  std::optional<Stall> worst;
  Duration max_overrun{};
  for (Shard& shard : shards_) {
    const std::lock_guard shard_lock(shard.mutex);
    changes += shard.changes;
    for (RunningStep& running : shard.steps) {
      if (running.is_waiting) continue;
      is_working |= running.step.is_image_work;
      const Duration overrun = running.overrun(before, now, tick);
      if (overrun <= Duration(0) || (worst && overrun <= max_overrun)) continue;
      max_overrun = overrun;
      worst = running.to_stall();
    }
  }
  const bool has_changed = std::exchange(last_changes_, changes) != changes;
  idle_time_ = has_changed || is_working ? Duration(0) : idle_time_ + tick;
  return worst;
}

/// Adds the time since the last check. Returns by how much the step exceeds its limits; negative if
/// it does not.
Activity::Duration Activity::RunningStep::overrun(Instant last_check, Instant now, Duration tick) {
  const Duration passed =
      begin > last_check ? std::min(tick, std::max(now - begin, Duration(0))) : tick;
  age += passed;
  cpu_idle += passed;
  if (!has_thread_clock) return age - step.max_duration;
  const nanoseconds used = cpu_time(thread_clock);
  if (used - cpu >= kMinCpuProgress) cpu_idle = {}, cpu = used;
  return std::max(age - step.max_duration, cpu_idle - step.max_cpu_idle);
}

Activity::Stall Activity::RunningStep::to_stall() const {
  Stall stall{.stage = step.stage, .age = std::chrono::duration_cast<seconds>(age)};
  for (const FileOfStep& file : step.files)
    stall.files.push_back({file.file, file.relative, file.job, file.state});
  return stall;
}

Activity::Duration Activity::idle_time() const {
  const std::lock_guard lock(check_mutex_);
  return idle_time_;
}

/// Describes the running steps, the longest first.
std::vector<Activity::Description> Activity::describe_steps() const {
  std::vector<Description> steps;
  for (const Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    for (const RunningStep& running : shard.steps) {
      if (!running.is_waiting)
        steps.push_back({running.begin, running.step.stage, names(running.step.files)});
    }
  }
  std::ranges::sort(steps, {}, &Description::begin);
  return steps;
}

std::string Activity::describe() const {
  constexpr std::size_t kMaxListed = 3;
  const std::vector<Description> steps = describe_steps();
  std::string text;
  for (std::size_t i = 0; i < std::min(steps.size(), kMaxListed); ++i) {
    const Description& step = steps[i];
    text += (i > 0 ? ", " : "") + std::string(step.stage) +
            (step.files.empty() ? "" : " of " + step.files) + " for " +
            seconds_text(Clock::now() - step.begin);
  }
  if (steps.size() > kMaxListed)
    text += ", and " + std::to_string(steps.size() - kMaxListed) + " more";
  return text;
}

std::string Activity::describe_longest(Duration min_age) const {
  const std::vector<Description> steps = describe_steps();
  if (steps.empty()) return {};
  const Duration age = Clock::now() - steps.front().begin;
  if (age < min_age) return {};
  return std::string(steps.front().stage) + " for " + seconds_text(age);
}

Activity::FileOfStep to_activity_file(const WorkItem& item) {
  return {item.file, item.relative, item.job, item.file_state};
}

std::string to_string(const Activity::Stall& stall) {
  const std::string stage(stall.stage);
  if (stall.kind == Activity::StallKind::idle)
    return "images wait for " + stage + ", but no thread has processed any for " +
           seconds_text(stall.age);
  const std::string files = names(stall.files);
  return stage + " has been running" + (files.empty() ? "" : " on " + files) + " for " +
         seconds_text(stall.age) + ", longer than its limit";
}

}  // namespace eckart::pipeline
