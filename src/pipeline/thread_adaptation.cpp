#include "pipeline/thread_adaptation.hpp"

#include <algorithm>

namespace eckart::pipeline {
namespace {

/// An interval with fewer images for each thread tells its rate too roughly, unless it is as long
/// as this.
constexpr std::int64_t kImagesPerThread = 16;
constexpr double kMaxIntervalS = 1;

constexpr double kAllBusy = 0.9;  // share of the threads' time
constexpr double kHalfBusy = 0.5;
constexpr double kCoresInUse = 0.85;  // share of the cores from which on threads share them
/// Half more threads have to make the stage at least an eighth faster.
constexpr double kMinGain = 0.25;
constexpr int kPause = 8;  // intervals after the first failed trial; twice as many after the next
constexpr int kMaxPauseDoublings = 6;

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }
double rate(const ThreadAdaptation::Interval& interval) {
  return ratio(double(interval.images), interval.seconds);
}

}  // namespace

ThreadAdaptation::Interval ThreadAdaptation::Interval::operator-(const Interval& earlier) const {
  return {.seconds = seconds - earlier.seconds,
          .images = images - earlier.images,
          .busy_s = busy_s - earlier.busy_s,
          .thread_s = thread_s - earlier.thread_s,
          .core_s = core_s - earlier.core_s};
}

bool ThreadAdaptation::is_long_enough(const Interval& interval) const {
  return interval.images >= kImagesPerThread * threads_ || interval.seconds >= kMaxIntervalS;
}

int ThreadAdaptation::update(const Interval& interval) {
  if (trial_) end_trial(interval);
  const double busy = ratio(interval.busy_s, interval.thread_s);
  const bool has_free_cores = interval.core_s < kCoresInUse * cores_ * interval.seconds;
  if (pause_ > 0) {
    --pause_;
  } else if (busy >= kAllBusy && has_free_cores && threads_ < max_) {
    trial_ = {threads_, rate(interval)};
    threads_ = std::min(max_, threads_ + std::max(1, threads_ / 2));
  }
  if (busy < kHalfBusy) threads_ = std::max(min_, threads_ - 1);
  return threads_;
}

void ThreadAdaptation::end_trial(const Interval& interval) {
  const Trial trial = *trial_;
  trial_.reset();
  const double more_threads = double(threads_) / trial.threads_before - 1;
  const bool are_all_busy = ratio(interval.busy_s, interval.thread_s) >= kAllBusy;
  if (!are_all_busy || rate(interval) >= trial.rate_before * (1 + kMinGain * more_threads)) {
    failed_trials_ = 0;
    return;
  }
  threads_ = trial.threads_before;
  pause_ = kPause << std::min(failed_trials_++, kMaxPauseDoublings);
}

}  // namespace eckart::pipeline
