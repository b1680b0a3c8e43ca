#include "bench/report/estimate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>

namespace eckart::bench {
namespace {

/// How many of the smallest and of the largest samples are outside the interval. `below` is the
/// probability that at most `outside` of the samples are below the median.
std::size_t count_outside(std::size_t samples) {
  constexpr double kTail = 0.025;
  const double n = double(samples);
  if (samples > 500) return std::size_t((n - 1.96 * std::sqrt(n)) / 2) - 1;  // normal distribution
  double below = std::exp2(-n), term = below;  // binomial(n, i) / 2^n, for i = 0
  std::size_t outside = 0;
  for (double i = 0; below <= kTail; ++outside) {
    ++i;
    term *= (n - i + 1) / i;
    below += term;
  }
  return outside > 0 ? outside - 1 : 0;
}

constexpr std::size_t kMinPasses = 3;  // for an interval of their medians

/// The quantile of Student's t distribution for intervals with 95 % confidence, from two degrees of
/// freedom on; with more than six a bound of it.
double student_t(std::size_t degrees_of_freedom) {
  constexpr std::array<double, 5> kQuantiles{4.303, 3.182, 2.776, 2.571, 2.447};
  return kQuantiles[std::min(degrees_of_freedom - 2, kQuantiles.size() - 1)];
}

}  // namespace

double Estimate::relative_error() const {
  return median > 0 ? std::max(median - low, high - median) / median : 0;
}

double Estimate::relative_noise() const {
  return median > 0 ? std::max(0.0, relative_error() - resolution / median) : 0;
}

Estimate Estimate::with_resolution(double clock_resolution) const {
  if (samples == 0) return {};
  return {.median = median,
          .low = std::max(0.0, low - clock_resolution),
          .high = high + clock_resolution,
          .samples = samples,
          .resolution = clock_resolution};
}

Estimate estimate(std::vector<double> samples) {
  if (samples.empty()) return {};
  std::sort(samples.begin(), samples.end());
  const std::size_t n = samples.size(), outside = count_outside(n);
  return {.median = (samples[(n - 1) / 2] + samples[n / 2]) / 2,
          .low = samples[outside],
          .high = samples[n - 1 - outside],
          .samples = int(n)};
}

Estimate estimate(const Passes& passes) {
  std::vector<double> all, logs;
  for (const std::vector<double>& pass : passes) {
    all.insert(all.end(), pass.begin(), pass.end());
    if (const double median = estimate(pass).median; median > 0) logs.push_back(std::log(median));
  }
  Estimate whole = estimate(std::move(all));
  if (logs.empty()) return whole;
  const auto [least, greatest] = std::ranges::minmax(logs);
  whole.low = std::min(whole.low, std::exp(least));
  whole.high = std::max(whole.high, std::exp(greatest));
  if (logs.size() < kMinPasses) return whole;
  const double n = double(logs.size()), mean = std::accumulate(logs.begin(), logs.end(), 0.0) / n;
  double squares = 0;
  for (const double log : logs) squares += (log - mean) * (log - mean);
  const double distance = student_t(logs.size() - 1) * std::sqrt(squares / (n - 1) / n);
  whole.low = std::min(whole.low, std::exp(mean - distance));
  whole.high = std::max(whole.high, std::exp(mean + distance));
  return whole;
}

Estimate rate(double amount, const Estimate& seconds) {
  if (seconds.median <= 0) return {.samples = seconds.samples};
  return {.median = amount / seconds.median,
          .low = amount / seconds.high,
          .high = seconds.low > 0 ? amount / seconds.low : std::numeric_limits<double>::infinity(),
          .samples = seconds.samples};
}

Estimate ratio(const Passes& a, const Passes& b) {
  Passes ratios(std::min(a.size(), b.size()));
  for (std::size_t pass = 0; pass < ratios.size(); ++pass) {
    for (std::size_t i = 0; i < std::min(a[pass].size(), b[pass].size()); ++i) {
      if (b[pass][i] > 0) ratios[pass].push_back(a[pass][i] / b[pass][i]);
    }
  }
  return estimate(ratios);
}

}  // namespace eckart::bench
