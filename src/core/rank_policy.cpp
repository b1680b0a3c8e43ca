#include "core/rank_policy.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <stdexcept>

namespace eckart {
namespace {

constexpr double kPercent = 100;

/// The largest rank whose triplets need at most this percent of the bytes of the pixels. It is not
/// limited: below 1 if there is none.
double rank_of_bytes(double percent, const ImageShape& shape, std::optional<int> chroma_rank) {
  const double triplets =
      percent / kPercent * double(shape.bytes()) / double(triplet_bytes(shape.rows, shape.cols));
  return std::floor(chroma_rank ? triplets - double(triplet_count(shape.channels, 0, chroma_rank))
                                : triplets / shape.channels);
}

}  // namespace

int choose_rank(const RankPolicy& policy, const ImageShape& shape, std::optional<int> chroma_rank) {
  const int full = std::min(shape.rows, shape.cols);
  const auto limited = [full](double rank) { return int(std::clamp(rank, 1.0, double(full))); };
  switch (policy.kind) {
    case RankPolicy::Kind::rank:
      return limited(policy.value);
    case RankPolicy::Kind::percent:
      return limited(std::round(policy.value / kPercent * full));
    case RankPolicy::Kind::bytes:
      return limited(rank_of_bytes(policy.value, shape, chroma_rank));
    case RankPolicy::Kind::full:
      return full;
    default:
      throw std::logic_error("the rank depends on the singular values");
  }
}

RankPolicy resolve(const RankPolicy& policy, const ImageShape& shape,
                   const std::optional<RankPolicy>& chroma_rank) {
  if (!depends_on_shape_only(policy)) return policy;
  return choose_rank(policy, shape,
                     chroma_rank && depends_on_shape_only(*chroma_rank)
                         ? std::optional(choose_rank(*chroma_rank, shape))
                         : std::nullopt);
}

std::vector<RankPolicy> largest_policies(const std::vector<RankPolicy>& policies) {
  using Kind = RankPolicy::Kind;
  const auto is_covered_by = [](const RankPolicy& policy, const RankPolicy& other) {
    if (other.kind == Kind::full) return policy.kind != Kind::full;
    if (policy.kind != other.kind) return false;
    if (policy.kind == Kind::gavish_donoho)  // 0: estimated
      return policy.value > 0 && other.value > 0 && policy.value > other.value;
    return policy.kind == Kind::rmse ? policy.value > other.value : policy.value < other.value;
  };
  std::vector<RankPolicy> largest;
  std::ranges::copy_if(policies, std::back_inserter(largest), [&](const RankPolicy& policy) {
    return std::ranges::none_of(
        policies, [&](const RankPolicy& other) { return is_covered_by(policy, other); });
  });
  return largest;
}

RankPolicy scale_levels(RankPolicy policy, double scale) {
  using Kind = RankPolicy::Kind;
  if (policy.kind == Kind::rmse || policy.kind == Kind::gavish_donoho) policy.value *= scale;
  return policy;
}

int max_rank(const RankPolicy& policy, int rows, int cols) {
  const int full = std::min(rows, cols);
  return policy.kind == RankPolicy::Kind::rank ? int(std::min(policy.value, double(full))) : full;
}

}  // namespace eckart
