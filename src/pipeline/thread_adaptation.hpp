#pragma once

#include <cstdint>
#include <optional>

namespace eckart::pipeline {

/// Chooses how many threads a stage has, by its rate. Threads are added while all of them are busy
/// and cores are free: then they wait for a disk, or are too few. They are taken away again if the
/// stage did not become faster, because then they wait for each other, or if many have no work.
/// Uses no threads and no clock.
class ThreadAdaptation {
 public:
  /// What a stage did in an interval, or since its start.
  struct Interval {
    double seconds = 0;
    std::int64_t images = 0;  ///< that the stage took
    double busy_s = 0;        ///< summed over its threads
    double thread_s = 0;      ///< the time of its threads: busy, waiting for input and blocked
    double core_s = 0;        ///< CPU time of the process

    Interval operator-(const Interval& earlier) const;
  };

  /// `min` threads at first, and never fewer; at most `max`. `cores`: that the process may use.
  ThreadAdaptation(int min, int max, int cores)
      : min_(min), max_(max), cores_(cores), threads_(min) {}

  /// Whether the interval is long enough to tell the rate of the stage.
  bool is_long_enough(const Interval& interval) const;

  /// Returns the number of threads from now on. The interval begins after the last change.
  int update(const Interval& interval);

 private:
  struct Trial {
    int threads_before = 0;
    double rate_before = 0;  ///< images/s
  };
  void end_trial(const Interval& interval);

  const int min_, max_, cores_;
  int threads_;
  std::optional<Trial> trial_;  ///< of more threads
  int failed_trials_ = 0;       ///< one after the other
  int pause_ = 0;               ///< intervals until the next trial
};

}  // namespace eckart::pipeline
