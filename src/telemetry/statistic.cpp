#include "telemetry/statistic.hpp"

#include <algorithm>
#include <cmath>

namespace eckart::telemetry {

void Statistic::add(double value) {
  min_ = count_ > 0 ? std::min(min_, value) : value;
  max_ = count_ > 0 ? std::max(max_, value) : value;
  ++count_;
  mean_ += (value - mean_) / double(count_);
  ++counts_[std::llround(value / step_)];
}

double Statistic::median() const {
  if (count_ == 0) return 0;
  return (value_at((count_ - 1) / 2) + value_at(count_ / 2)) / 2;
}

double Statistic::percentile(double share) const {
  if (count_ == 0) return 0;
  const auto needed = std::int64_t(std::ceil(share * double(count_)));
  return value_at(std::clamp<std::int64_t>(needed - 1, 0, count_ - 1));
}

double Statistic::value_at(std::int64_t index) const {
  for (const auto& [steps, count] : counts_) {
    index -= count;
    if (index < 0) return std::clamp(double(steps) * step_, min_, max_);
  }
  return max_;
}

}  // namespace eckart::telemetry
