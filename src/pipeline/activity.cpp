#include "pipeline/activity.hpp"

#include <time.h>

#include <algorithm>

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
std::string names(const std::vector<Activity::File>& files) {
  if (files.empty()) return {};
  std::string text = text::printable(files.front().file.native());
  if (files.size() > 1) text += " and " + std::to_string(files.size() - 1) + " more";
  return text;
}

std::string seconds_text(Activity::Duration time) {
  return std::to_string(std::chrono::duration_cast<seconds>(time).count()) + " s";
}

}  // namespace

Activity::StepIterator Activity::begin(Step step) {
  RunningStep running{.step = std::move(step), .begin = Clock::now()};
  if (running.step.max_cpu_idle.count() > 0)
    running.has_thread_clock = pthread_getcpuclockid(pthread_self(), &running.thread_clock) == 0;
  const std::lock_guard lock(mutex_);
  changes_ += running.step.is_image_work;
  return steps_.insert(steps_.end(), std::move(running));
}

void Activity::end(StepIterator position) {
  const std::lock_guard lock(mutex_);
  changes_ += position->step.is_image_work;
  steps_.erase(position);
}

void Activity::set_waiting(StepIterator position, bool is_waiting) {
  const std::lock_guard lock(mutex_);
  changes_ += position->step.is_image_work;
  position->is_waiting = is_waiting;
  position->begin = Clock::now();  // the time limit starts again after a wait
  position->age = position->cpu_idle = {};
}

std::optional<Activity::Stall> Activity::check(Instant now) {
  const std::lock_guard lock(mutex_);
  const Instant before = std::exchange(last_check_, std::max(now, last_check_));
  const Duration tick = std::clamp<Duration>(now - before, Duration(0), kMaxTick);
  bool is_working = false;
  std::optional<Stall> worst;
  Duration max_overrun{};
  for (RunningStep& running : steps_) {
    if (running.is_waiting) continue;
    is_working |= running.step.is_image_work;
    const Duration passed =
        running.begin > before ? std::min(tick, std::max(now - running.begin, Duration(0))) : tick;
    running.age += passed;
    running.cpu_idle += passed;
    if (running.has_thread_clock) {
      const nanoseconds cpu = cpu_time(running.thread_clock);
      if (cpu - running.cpu >= kMinCpuProgress) running.cpu_idle = {}, running.cpu = cpu;
    }
    Duration overrun = running.age - running.step.max_duration;
    if (running.has_thread_clock)
      overrun = std::max(overrun, running.cpu_idle - running.step.max_cpu_idle);
    if (overrun <= Duration(0) || (worst && overrun <= max_overrun)) continue;
    max_overrun = overrun;
    worst = Stall{.stage = running.step.stage,
                  .files = running.step.files,
                  .age = std::chrono::duration_cast<seconds>(running.age)};
  }
  const bool has_changed = std::exchange(last_changes_, changes_) != changes_;
  idle_time_ = has_changed || is_working ? Duration(0) : idle_time_ + tick;
  return worst;
}

Activity::Duration Activity::idle_time() const {
  const std::lock_guard lock(mutex_);
  return idle_time_;
}

/// Returns the running steps, the longest first. Call it with the mutex locked.
std::vector<const Activity::RunningStep*> Activity::running_steps() const {
  std::vector<const RunningStep*> running;
  for (const RunningStep& step : steps_) {
    if (!step.is_waiting) running.push_back(&step);
  }
  std::sort(running.begin(), running.end(),
            [](const RunningStep* a, const RunningStep* b) { return a->begin < b->begin; });
  return running;
}

std::string Activity::describe(const RunningStep& running) {
  const std::string files = names(running.step.files);
  return std::string(running.step.stage) + (files.empty() ? "" : " of " + files) + " for " +
         seconds_text(Clock::now() - running.begin);
}

std::string Activity::describe() const {
  constexpr std::size_t kMaxListed = 3;
  const std::lock_guard lock(mutex_);
  const std::vector<const RunningStep*> running = running_steps();
  std::string text;
  for (std::size_t i = 0; i < std::min(running.size(), kMaxListed); ++i)
    text += (i > 0 ? ", " : "") + describe(*running[i]);
  if (running.size() > kMaxListed)
    text += ", and " + std::to_string(running.size() - kMaxListed) + " more";
  return text;
}

std::string Activity::describe_longest(Duration min_age) const {
  const std::lock_guard lock(mutex_);
  const std::vector<const RunningStep*> running = running_steps();
  if (running.empty()) return {};
  const Duration age = Clock::now() - running.front()->begin;
  if (age < min_age) return {};
  return std::string(running.front()->step.stage) + " for " + seconds_text(age);
}

Activity::File to_activity_file(const WorkItem& item) {
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
