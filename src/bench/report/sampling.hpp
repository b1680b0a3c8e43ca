#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <stop_token>
#include <string>
#include <vector>

#include "bench/report/estimate.hpp"

namespace eckart::bench {

/// Work that is measured. Each call does it once and returns one or more times in seconds, always
/// as many.
using TimedWork = std::function<std::vector<double>()>;

struct SamplingOptions {
  int min_rounds = 10, max_rounds = 100;
  double max_seconds = 10;      ///< no round begins that would end later, except the first ones
  double max_error = 0.02;      ///< the relative error of every first time at which sampling ends
  double max_work_seconds = 1;  ///< work whose first time is longer is not sampled
  std::vector<bool> are_always_sampled = {};  ///< by work: regardless of that; empty: none
  double warm_up_seconds = 0.01;              ///< at least two calls, and at least this long
  /// Work that takes longer is warmed up by one call. Infinity: by two.
  double one_warm_up_above_seconds = std::numeric_limits<double>::infinity();
  /// Before each sample of work that takes less, it is done once without a sample: threads are
  /// awake and caches warm, as in a loop.
  double repeat_below_seconds = 0.005;
  std::function<void()> before_work = [] {};  ///< called before each warm-up and each sample
  std::function<double()> now;  ///< a steady clock in seconds; null: that of the machine
  std::stop_token stop = {};
};

/// The samples of one work.
struct Samples {
  /// By time, then by round; empty if the first time was longer than `max_work_seconds`.
  std::vector<std::vector<double>> times;
  double first_call_s = 0;  ///< of the clock

  bool is_measured() const { return !times.empty(); }
};

/// The samples of one work in several passes.
struct MeasuredTimes {
  std::vector<Passes> passes;  ///< by time; empty if the work was not measured
  double first_call_s = 0;     ///< of the first pass

  bool is_measured() const { return !passes.empty(); }
  Estimate time(std::size_t which) const { return estimate(passes[which]); }
  /// `pass`: its number, from 0 on. Passes without samples are empty.
  void add(const Samples& samples, std::size_t pass);
};

/// Measures all works in rounds, one sample of each work a round in a random order, so that a
/// disturbance affects all of them, and no work always follows the same other one. Before, each
/// work is warmed up. Returns early, with what there is, after a stop request. Rethrows what a work
/// throws.
std::vector<Samples> sample_in_rounds(const std::vector<TimedWork>& works,
                                      const SamplingOptions& options);

}  // namespace eckart::bench
