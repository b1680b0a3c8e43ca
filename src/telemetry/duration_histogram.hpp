#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace eckart::telemetry {

/// A histogram of durations from 1 us to 70 minutes; longer ones count as 70 minutes. The relative
/// width of a bucket is at most 1/32, so quantiles are within 3 %. The buckets are those of
/// HdrHistogram (Gil Tene).
class DurationHistogram {
 public:
  std::int64_t count() const { return count_; }
  double sum_s() const { return sum_s_; }
  double mean_s() const;  ///< NaN if there are none
  /// The duration that a share `q`, 0 to 1, of all durations does not exceed; NaN if there are
  /// none.
  double quantile_s(double q) const;
  /// Number of durations not longer than `seconds`, to within 1/32 of it.
  std::int64_t count_up_to(double seconds) const;

  /// The durations that were added after `earlier`, which is an earlier state of the same recorder.
  DurationHistogram since(const DurationHistogram& earlier) const;

 private:
  friend class DurationRecorder;
  std::vector<std::int64_t> counts_;  // by bucket; empty if there are none
  std::int64_t count_ = 0;
  double sum_s_ = 0;
};

/// Counts durations. May be used from any number of threads at the same time.
class DurationRecorder {
 public:
  /// Adds `count` durations of this length. A negative length counts as 0.
  void add(std::chrono::nanoseconds length, std::int64_t count = 1);
  DurationHistogram read() const;

  static constexpr std::size_t kBuckets = std::size_t(29) * 32;

 private:
  std::array<std::atomic<std::int64_t>, kBuckets> counts_{};
  std::atomic<std::int64_t> sum_ns_{0};
};

}  // namespace eckart::telemetry
