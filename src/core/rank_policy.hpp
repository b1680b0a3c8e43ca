#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/image.hpp"

namespace eckart {

/// How the rank of a reconstruction is chosen. Except for `gavish_donoho` and `marchenko_pastur`,
/// the triplets of all channels compete: one threshold on the singular values of the image gives
/// the rank of each channel. Each channel keeps at least one triplet.
struct RankPolicy {
  enum class Kind : std::uint8_t {
    // The shape of the image determines the rank; all channels have the same.
    rank,     ///< value: the rank; full rank if min(rows, cols) is smaller
    percent,  ///< value: percent of min(rows, cols)
    bytes,    ///< value: the factors need at most this percent of the bytes of the pixels
    full,     ///< min(rows, cols)
    // The singular values determine the rank.
    energy,            ///< value: smallest share of ||A||_F^2 to keep, 0 < value <= 1
    psnr,              ///< value: smallest PSNR in dB
    rmse,              ///< value: largest root mean square error in levels
    gavish_donoho,     ///< value: standard deviation of the noise in levels; 0: estimated
    marchenko_pastur,  ///< noise edge of the Marchenko-Pastur distribution
  };
  Kind kind = Kind::rank;
  double value = 20;

  RankPolicy() = default;
  constexpr RankPolicy(int rank) : value(rank) {}
  constexpr RankPolicy(Kind kind_, double value_) : kind(kind_), value(value_) {}

  friend auto operator<=>(const RankPolicy&, const RankPolicy&) = default;
};

/// Whether the rank assumes that the image has white noise.
constexpr bool assumes_white_noise(const RankPolicy& policy) {
  return policy.kind == RankPolicy::Kind::gavish_donoho ||
         policy.kind == RankPolicy::Kind::marchenko_pastur;
}
/// Why a JPEG has none, for messages.
inline constexpr std::string_view kJpegNoise =
    "JPEG compression has removed most of it and left blocks";

/// Whether the rank depends on nothing but the shape.
constexpr bool depends_on_shape_only(const RankPolicy& policy) {
  return policy.kind <= RankPolicy::Kind::full;
}

/// The bytes of one float32 triplet (u, sigma, v) of a rows x cols matrix.
constexpr std::int64_t triplet_bytes(int rows, int cols) {
  return std::int64_t(sizeof(float)) * (std::int64_t(rows) + cols + 1);
}

/// The triplets of all channels at this rank; of all but the first at `chroma_rank`, if it is set.
constexpr std::int64_t triplet_count(int channels, int rank, std::optional<int> chroma_rank = {}) {
  return rank + std::int64_t(channels - 1) * chroma_rank.value_or(rank);
}

/// The rank for each channel of an image of this shape, between 1 and min(rows, cols). If
/// `chroma_rank` is set, that of the first channel: Kind::bytes counts all triplet_count().
/// Requires depends_on_shape_only(policy).
int choose_rank(const RankPolicy& policy, const ImageShape& shape,
                std::optional<int> chroma_rank = {});

/// The policy as the backends see it: Kind::rank if the shape determines the rank, otherwise
/// unchanged. If all channels but the first have a rank of their own, `chroma_rank`, and the shape
/// determines it, Kind::bytes counts their triplets at that rank, otherwise at the same rank.
RankPolicy resolve(const RankPolicy& policy, const ImageShape& shape,
                   const std::optional<RankPolicy>& chroma_rank = {});

/// The policies without those that never choose more triplets than another of them. Their order is
/// kept.
std::vector<RankPolicy> largest_policies(const std::vector<RankPolicy>& policies);

/// The policy for the same matrices with their levels multiplied by `scale`.
RankPolicy scale_levels(RankPolicy policy, double scale);

/// The largest rank that the policy can choose for a rows x cols matrix. Requires a resolved
/// policy.
int max_rank(const RankPolicy& policy, int rows, int cols);

}  // namespace eckart
