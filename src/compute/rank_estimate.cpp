#include "compute/rank_estimate.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace eckart::compute {
namespace {

using Kind = RankRule::Kind;

// The squared error of rank k falls as exp(-b k^kDecayPower).
constexpr double kDecayPower = 0.85;
// Added to an estimated rank: a share of it, but at least kMinMargin.
constexpr int kMinMargin = 4;
constexpr int kMarginDivisor = 8;

/// The rank at which a quantity comes down to `limit`, if it is `before` at rank `first` and
/// `after` at rank `last`. At most `full_rank`.
int extrapolate(int first, double before, int last, double after, double limit, int full_rank) {
  const double slope =
      std::log(before / after) / (std::pow(last, kDecayPower) - std::pow(first, kDecayPower));
  const double power = std::pow(last, kDecayPower) + std::log(after / limit) / slope;
  const double rank = std::ceil(std::pow(power, 1 / kDecayPower));
  return rank < full_rank ? std::max(int(rank), last) : full_rank;  // full_rank if it is NaN
}

/// The sum of what the leading `rank` values leave of each plane.
double squared_error(std::span<const PlaneSpectrum> planes, int rank) {
  double sum = 0;
  for (const PlaneSpectrum& plane : planes) {
    double rest = plane.squared_norm;
    for (int i = 0; i < std::min(rank, plane.count); ++i) rest -= plane[i];
    sum += std::max(0.0, rest);
  }
  return sum;
}

}  // namespace

int estimate_rank(const RankRule& rule, std::span<const PlaneSpectrum> planes) {
  std::vector<int> ranks(planes.size());
  const bool is_enough = choose_ranks(rule, planes.data(), int(planes.size()), ranks.data());
  const int known = *std::ranges::max_element(ranks), full_rank = planes.front().full_rank();
  if (is_enough || known >= full_rank) return known;
  const int count = std::ranges::min_element(planes, {}, &PlaneSpectrum::count)->count;
  const int before = std::max(1, 3 * count / 4);
  switch (rule.kind) {
    case Kind::rank:
      return std::min(int(rule.limit), full_rank);
    case Kind::missing_share:
    case Kind::squared_error:
      return extrapolate(before, squared_error(planes, before), count, squared_error(planes, count),
                         squared_error_limit(rule, planes.data(), int(planes.size())), full_rank);
    case Kind::threshold: {
      int largest = known;
      for (const PlaneSpectrum& plane : planes) {
        if (plane[count - 1] > rule.limit)
          largest = std::max(largest, extrapolate(before, plane[before - 1], count,
                                                  plane[count - 1], rule.limit, full_rank));
      }
      return largest;
    }
    case Kind::median_threshold:
    case Kind::marchenko_pastur:
      break;
  }
  return full_rank;
}

int rank_to_cover(int estimated_rank, int full_rank) {
  return std::min(full_rank,
                  estimated_rank + std::max(kMinMargin, estimated_rank / kMarginDivisor));
}

}  // namespace eckart::compute
