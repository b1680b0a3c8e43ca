#include "compute/rank_rule.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace eckart::compute {
namespace {

using Kind = RankRule::Kind;

double square(double value) { return value * value; }

/// The largest squared error before rounding that keeps the mean squared error of the pixels
/// written below `mean_squared_error`.
double limit_before_rounding(double mean_squared_error, const ImageShape& shape,
                             double rounding_step) {
  if (is_float(shape.depth)) return double(shape.samples()) * mean_squared_error;
  constexpr double kInverseRoundingVariance = 12, kMaxRoundingRatio = 1.34;
  return double(shape.samples()) *
         std::max(mean_squared_error - square(rounding_step) / kInverseRoundingVariance,
                  mean_squared_error / kMaxRoundingRatio);
}

double aspect_ratio(const ImageShape& shape) {
  return double(std::min(shape.rows, shape.cols)) / std::max(shape.rows, shape.cols);
}

/// The median of the Marchenko-Pastur distribution with ratio `beta` and variance 1.
double marchenko_pastur_median(double beta) {
  const double lower = square(1 - std::sqrt(beta)), upper = square(1 + std::sqrt(beta));
  // With x = middle - half cos(angle), the density times dx is smooth in the angle.
  const double middle = (upper + lower) / 2, half = (upper - lower) / 2;
  const auto density = [&](double angle) {  // angle > 0
    const double x = middle - half * std::cos(angle);
    return square(half * std::sin(angle)) / (2 * std::numbers::pi * beta * x);
  };
  constexpr int kSteps = 4096;
  constexpr double kStep = std::numbers::pi / kSteps;
  double share = 0;
  for (int i = 0; i < kSteps; ++i) {
    const double part = kStep * density((i + 0.5) * kStep);
    if (share + part >= 0.5) return middle - half * std::cos((i + (0.5 - share) / part) * kStep);
    share += part;
  }
  return upper;
}

}  // namespace

double hard_threshold(double beta) {
  return std::sqrt(2 * (beta + 1) + 8 * beta / (beta + 1 + std::sqrt(beta * beta + 14 * beta + 1)));
}

double hard_threshold_of_median(double beta) {
  return hard_threshold(beta) / std::sqrt(marchenko_pastur_median(beta));
}

std::vector<double> singular_values(const PlaneSpectrum& spectrum) {
  std::vector<double> values(std::size_t(spectrum.full_rank()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sqrt(spectrum[int(i)]);
  return values;
}

RankRule::Kind rule_kind(const RankPolicy& policy) {
  switch (policy.kind) {
    case RankPolicy::Kind::energy:
      return Kind::missing_share;
    case RankPolicy::Kind::psnr:
    case RankPolicy::Kind::rmse:
      return Kind::squared_error;
    case RankPolicy::Kind::gavish_donoho:
      return policy.value == 0 ? Kind::median_threshold : Kind::threshold;
    case RankPolicy::Kind::marchenko_pastur:
      return Kind::marchenko_pastur;
    default:
      return Kind::rank;
  }
}

RankRule make_rank_rule(const RankPolicy& policy, const ImageShape& shape, double peak,
                        double rounding_step) {
  const auto limit = [&](Kind kind) {
    switch (kind) {
      case Kind::missing_share:
        return 1 - policy.value;
      case Kind::squared_error:
        return limit_before_rounding(policy.kind == RankPolicy::Kind::rmse
                                         ? square(policy.value)
                                         : square(peak) / std::pow(10, policy.value / 10),
                                     shape, rounding_step);
      case Kind::threshold:
        return square(hard_threshold(aspect_ratio(shape)) * policy.value) *
               std::max(shape.rows, shape.cols);
      case Kind::median_threshold:
        return square(hard_threshold_of_median(aspect_ratio(shape)));
      case Kind::marchenko_pastur:
        return 0.0;
      default:
        return double(choose_rank(policy, shape));
    }
  };
  const Kind kind = rule_kind(policy);
  return {kind, limit(kind), shape.channels};
}

}  // namespace eckart::compute
