// Lanczos: C. E. Duchon, "Lanczos Filtering in One and Two Dimensions", J. Appl. Meteorol. 18
// (1979).
#include "preparation/filter_weights.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace eckart::preparation {
namespace {

constexpr double kLobes = 3;  // a

double sinc(double x) {
  if (x == 0) return 1;
  const double angle = x * std::numbers::pi;
  return std::sin(angle) / angle;
}

double lanczos(double x) { return -kLobes <= x && x < kLobes ? sinc(x) * sinc(x / kLobes) : 0; }

/// Rounds halves away from 0.
std::int32_t to_fixed_point(double weight, Depth depth) {
  const double scaled = weight * double(1 << fraction_bits(depth));
  return std::int32_t(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
}

}  // namespace

std::size_t FilterWeights::bytes() const {
  return windows.size() * sizeof(Window) + weights.size() * sizeof(std::int32_t) +
         float_weights.size() * sizeof(double);
}

FilterWeights lanczos_weights(int in, int out, Depth depth) {
  const double scale = double(in) / out, filter_scale = std::max(scale, 1.0);
  const double support = kLobes * filter_scale;  // half of the width of a window
  FilterWeights filter;
  filter.max_count = std::min(int(std::ceil(support)) * 2 + 1, in);
  filter.windows.resize(std::size_t(out));
  const std::size_t count = std::size_t(out) * std::size_t(filter.max_count);
  if (is_float(depth)) {
    filter.float_weights.resize(count);
  } else {
    filter.weights.resize(count);
  }
  std::vector<double> weights;
  for (int i = 0; i < out; ++i) {
    const double center = (i + 0.5) * scale;
    const int first = std::max(int(std::floor(center - support + 0.5)), 0);
    const int end = std::min(int(std::floor(center + support + 0.5)), in);
    weights.clear();
    double sum = 0;
    for (int x = first; x < end; ++x) {
      weights.push_back(lanczos((x - center + 0.5) * (1 / filter_scale)));
      sum += weights.back();
    }
    filter.windows[std::size_t(i)] = {first, end - first};
    const std::size_t at = std::size_t(i) * std::size_t(filter.max_count);
    if (is_float(depth)) {
      std::ranges::transform(weights, &filter.float_weights[at],
                             [&](double weight) { return weight / sum; });
    } else {
      std::ranges::transform(weights, &filter.weights[at],
                             [&](double weight) { return to_fixed_point(weight / sum, depth); });
    }
  }
  return filter;
}

std::shared_ptr<const FilterWeights> WeightCache::get(int in, int out, Depth depth) {
  const std::lock_guard lock(mutex_);
  const Key key{in, out, depth};
  if (const auto found = weights_.find(key); found != weights_.end()) return found->second;
  auto weights = std::make_shared<const FilterWeights>(lanczos_weights(in, out, depth));
  if (bytes_ + weights->bytes() > kMaxBytes) {
    weights_.clear();
    bytes_ = 0;
  }
  bytes_ += weights->bytes();
  weights_.emplace(key, weights);
  return weights;
}

std::size_t WeightCache::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace eckart::preparation
