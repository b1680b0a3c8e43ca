#include "telemetry/statistic.hpp"

#include <algorithm>
#include <cmath>

namespace eckart::telemetry {

void Statistic::add(double value) {
  min_ = count_ > 0 ? std::min(min_, value) : value;
  max_ = count_ > 0 ? std::max(max_, value) : value;
  ++count_;
  sum_ += value;
  ++counts_[std::llround(value * double(steps_per_unit_))];
}

double Statistic::median() const {
  if (count_ == 0) return 0;
  return value_of(steps_at((count_ - 1) / 2) + steps_at(count_ / 2), 2);
}

double Statistic::percentile(double share) const {
  if (count_ == 0) return 0;
  const auto needed = std::int64_t(std::ceil(share * double(count_)));
  return value_of(steps_at(std::clamp<std::int64_t>(needed - 1, 0, count_ - 1)), 1);
}

std::int64_t Statistic::steps_at(std::int64_t index) const {
  for (const auto& [steps, count] : counts_) {
    index -= count;
    if (index < 0) return steps;
  }
  return counts_.rbegin()->first;
}

/// Divides by an integer: 35.385 is 7077 / 200, but not 35385 * 0.001.
double Statistic::value_of(std::int64_t sum_of_steps, int values) const {
  return std::clamp(double(sum_of_steps) / double(values * steps_per_unit_), min_, max_);
}

}  // namespace eckart::telemetry
