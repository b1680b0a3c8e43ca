#pragma once

#include <cstdint>
#include <map>

namespace eckart::telemetry {

/// Mean, minimum and median of any number of values, in memory that depends only on their range:
/// the median is counted in steps, and is within half a step of the exact one.
class Statistic {
 public:
  explicit Statistic(double step) : step_(step) {}

  /// Requires a finite value.
  void add(double value);

  std::int64_t count() const { return count_; }
  double mean() const { return mean_; }  ///< 0 if there are no values
  double min() const { return min_; }    ///< 0 if there are no values
  /// Of an even number of values, the mean of the two in the middle. 0 if there are no values.
  double median() const;
  /// The smallest value that at least this share of all values does not exceed; 0 < share <= 1. 0
  /// if there are no values.
  double percentile(double share) const;

 private:
  /// The value of this index, in ascending order, from 0.
  double value_at(std::int64_t index) const;

  double step_;
  std::int64_t count_ = 0;
  double mean_ = 0;
  double min_ = 0, max_ = 0;
  std::map<std::int64_t, std::int64_t> counts_;  // by value / step, rounded
};

}  // namespace eckart::telemetry
