#include "capacity/scaling.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/student_t.hpp"

namespace eckart::capacity {
namespace {

constexpr double kPriorSerialFraction = 0.015, kPriorLogSpread = 0.4;

double weight(const ScalingPoint& point) { return 1 / std::pow(point.error * point.y, 2); }

bool have_one_core_count(std::span<const ScalingPoint> points) {
  const auto [min, max] = std::ranges::minmax(points, {}, &ScalingPoint::cores);
  return max.cores < 1.05 * min.cores;
}

/// The best y(1) for a given ratio, and the sum of squared residuals in units of standard errors.
struct Profile {
  double single_core, variance, squares;
};
Profile profile(std::span<const ScalingPoint> points, double ratio) {
  double gy = 0, gg = 0, squares = 0;
  const auto growth = [&](const ScalingPoint& p) { return 1 + ratio * (p.cores - 1); };
  for (const ScalingPoint& p : points) {
    gy += weight(p) * growth(p) * p.y;
    gg += weight(p) * growth(p) * growth(p);
  }
  for (const ScalingPoint& p : points) {
    squares += weight(p) * std::pow(p.y - gy / gg * growth(p), 2);
  }
  return {gy / gg, 1 / gg, squares};
}

}  // namespace

std::optional<LineFit> fit_line(std::span<const ScalingPoint> points) {
  if (points.size() < 2 || have_one_core_count(points)) return std::nullopt;
  double w = 0, x = 0, y = 0;
  for (const ScalingPoint& p : points) {
    w += weight(p);
    x += weight(p) * (p.cores - 1);
    y += weight(p) * p.y;
  }
  x /= w;
  y /= w;
  double xx = 0, xy = 0;
  for (const ScalingPoint& p : points) {
    xx += weight(p) * std::pow(p.cores - 1 - x, 2);
    xy += weight(p) * (p.cores - 1 - x) * (p.y - y);
  }
  const double slope = xy / xx, single_core = y - slope * x, ratio = slope / single_core;
  // Delta method: y and the slope are independent at the mean of the cores.
  double variance = std::pow(1 + ratio * x, 2) / xx + ratio * ratio / w;
  double quantile = kNormalQuantile975;
  if (points.size() > 2) {
    const std::size_t degrees = points.size() - 2;
    variance *= profile(points, ratio).squares / double(degrees);
    quantile = student_t(degrees);
  }
  const double half = quantile * std::sqrt(variance) / std::abs(single_core);
  return LineFit{single_core, {ratio, ratio - half, ratio + half}};
}

CoreCost::CoreCost(std::span<const ScalingPoint> points) : is_known_(!have_one_core_count(points)) {
  if (!is_known_) {
    const Profile flat = profile(points, 0);
    posterior_.push_back({0, flat.single_core, flat.variance, 1});
    return;
  }
  const std::optional<LineFit> line = fit_line(points);
  double scale = 1;  // of the errors, if runs differ by more than these
  if (points.size() > 2) {
    const double squares = profile(points, std::max(0.0, line->ratio.value)).squares;
    scale = std::max(1.0, squares / double(points.size() - 2));
  }
  constexpr int kSteps = 400;
  constexpr double kMinSerialFraction = 1e-4;  // the grid is from this to 1
  double best = -std::numeric_limits<double>::infinity();
  for (int i = 0; i <= kSteps; ++i) {
    const double serial = std::pow(kMinSerialFraction, 1 - double(i) / kSteps);
    const auto [single_core, variance, squares] = profile(points, serial);
    // The prior is Student's t with 3 degrees of freedom, whose heavy tails yield to clear
    // measurements.
    const double from_prior = std::log(serial / kPriorSerialFraction) / kPriorLogSpread;
    const double log_prior = -2 * std::log1p(from_prior * from_prior / 3);
    const double log_weight = log_prior - 0.5 * squares / scale + 0.5 * std::log(variance);
    posterior_.push_back({serial, single_core, variance * scale, log_weight});
    best = std::max(best, log_weight);
  }
  double all = 0;
  for (PosteriorPoint& point : posterior_) all += point.weight = std::exp(point.weight - best);
  for (PosteriorPoint& point : posterior_) point.weight /= all;
}

Estimate CoreCost::core_s_per_image(double cores) const {
  double mean = 0, square = 0;
  for (const auto& [serial, single_core, variance, weight] : posterior_) {
    const double growth = 1 + serial * (cores - 1);
    mean += weight * single_core * growth;
    square += weight * (single_core * single_core + variance) * growth * growth;
  }
  const double half = kNormalQuantile975 * std::sqrt(std::max(0.0, square - mean * mean));
  return {mean, std::max(0.2 * mean, mean - half), mean + half};
}

Estimate CoreCost::serial_fraction() const {
  Estimate serial;
  double below = 0;
  for (const PosteriorPoint& point : posterior_) {
    serial.value += point.weight * point.serial;
    if (below < 0.025) serial.low = point.serial;
    if (below < 0.975) serial.high = point.serial;
    below += point.weight;
  }
  return serial;
}

}  // namespace eckart::capacity
