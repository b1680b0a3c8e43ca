#include "bench/report/estimate.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "core/student_t.hpp"

namespace eckart::bench {
namespace {

/// How many of the smallest and of the largest samples are outside the interval. `below` is the
/// probability that at most `outside` of the samples are below the median.
std::size_t count_outside(std::size_t samples) {
  constexpr double kTail = 0.025;
  const double n = double(samples);
  if (samples > 500)
    return std::size_t((n - kNormalQuantile975 * std::sqrt(n)) / 2) - 1;  // normal distribution
  double below = std::exp2(-n), term = below;  // binomial(n, i) / 2^n, for i = 0
  std::size_t outside = 0;
  for (double i = 0; below <= kTail; ++outside) {
    ++i;
    term *= (n - i + 1) / i;
    below += term;
  }
  return outside > 0 ? outside - 1 : 0;
}

struct StudentInterval {
  double low, high;
};

/// Student's t interval of positive numbers, at least two, by their logarithms.
StudentInterval student_interval(const std::vector<double>& numbers) {
  const double n = double(numbers.size());
  double mean = 0, squares = 0;
  for (const double number : numbers) mean += std::log(number) / n;
  for (const double number : numbers) squares += std::pow(std::log(number) - mean, 2);
  const double distance = student_t(numbers.size() - 1) * std::sqrt(squares / (n - 1) / n);
  return {std::exp(mean - distance), std::exp(mean + distance)};
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
  constexpr std::size_t kMinPasses = 3;  // for Student's interval
  std::vector<double> all, medians;
  for (const std::vector<double>& pass : passes) {
    if (pass.empty()) continue;
    all.insert(all.end(), pass.begin(), pass.end());
    medians.push_back(estimate(pass).median);
  }
  Estimate whole = estimate(std::move(all));
  const auto include = [&](double low, double high) {
    whole.low = std::min(whole.low, low);
    whole.high = std::max(whole.high, high);
  };
  for (const double median : medians) include(median, median);
  const bool are_positive = std::ranges::all_of(medians, [](double median) { return median > 0; });
  if (medians.size() < kMinPasses || !are_positive) return whole;
  const StudentInterval interval = student_interval(medians);
  include(interval.low, interval.high);
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
