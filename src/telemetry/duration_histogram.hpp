#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace eckart {

/// How often durations of each length occurred. Lengths share a bucket where they differ by less
/// than a 32nd: quantiles are within 3 %. From 1 us to 70 minutes; what is longer counts as that.
/// (The buckets are those of Gil Tene's HdrHistogram.)
class DurationHistogram {
 public:
  std::int64_t count() const { return count_; }
  double sum_s() const { return sum_s_; }
  double mean_s() const;  ///< NaN where there is none
  /// The length that a share `q` of them, 0 to 1, does not exceed; NaN where there is none.
  double quantile_s(double q) const;
  /// How many are not longer, to a 32nd of that length.
  std::int64_t count_up_to(double seconds) const;

  /// Without those that were counted `earlier` by the same.
  DurationHistogram since(const DurationHistogram& earlier) const;

 private:
  friend class DurationRecorder;
  std::vector<std::int64_t> counts_;  // by bucket; empty: none
  std::int64_t count_ = 0;
  double sum_s_ = 0;
};

/// Counts durations, on any threads at the same time.
class DurationRecorder {
 public:
  /// `count` of this length; a negative one counts as 0.
  void add(std::chrono::nanoseconds length, std::int64_t count = 1);
  DurationHistogram read() const;

  static constexpr std::size_t kBuckets = std::size_t(29) * 32;

 private:
  std::array<std::atomic<std::int64_t>, kBuckets> counts_{};
  std::atomic<std::int64_t> sum_ns_{0};
};

}  // namespace eckart
