#pragma once

#include <cmath>
#include <cstdint>
#include <map>

namespace eckart::telemetry {

/// Mean, minimum and median of any number of values, in memory that depends only on their range:
/// the median is counted in steps, and is within half a step of the exact one.
class Statistic {
 public:
  /// `step`: 1 divided by an integer. Medians and percentiles are the numbers nearest to multiples
  /// of it, or of half of it, so that they print with few digits.
  explicit Statistic(double step) : steps_per_unit_(std::llround(1 / step)) {}

  /// Requires a finite value.
  void add(double value);

  std::int64_t count() const { return count_; }
  double mean() const { return count_ > 0 ? sum_ / double(count_) : 0; }  ///< 0 without values
  double min() const { return min_; }                                     ///< 0 without values
  /// Of an even number of values, the mean of the two in the middle. 0 if there are no values.
  double median() const;
  /// The smallest value that at least this share of all values does not exceed; 0 < share <= 1. 0
  /// if there are no values.
  double percentile(double share) const;

 private:
  /// The steps of the value of this index, in ascending order, from 0.
  std::int64_t steps_at(std::int64_t index) const;
  /// The mean of so many values, within the range of all.
  double value_of(std::int64_t sum_of_steps, int values) const;

  std::int64_t steps_per_unit_;
  std::int64_t count_ = 0;
  double sum_ = 0;
  double min_ = 0, max_ = 0;
  std::map<std::int64_t, std::int64_t> counts_;  // by steps, rounded
};

}  // namespace eckart::telemetry
