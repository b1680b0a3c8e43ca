#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "core/host_device.hpp"
#include "core/image.hpp"
#include "core/rank_policy.hpp"

namespace eckart::compute {

/// A rank policy for channels of one shape, in the units of squared singular values. The CPU and
/// the GPU use the same rules.
struct RankRule {
  enum class Kind : int {
    rank,              ///< limit: the rank
    missing_share,     ///< the squared error is at most `limit` ||A||_F^2
    squared_error,     ///< the squared error is at most `limit`
    threshold,         ///< all sigma^2 above `limit` are kept
    median_threshold,  ///< all sigma above sqrt(limit) times their median are kept
    marchenko_pastur   ///< all sigma above the estimated noise edge are kept
  };
  Kind kind = Kind::rank;
  double limit = 0;
  int channels = 1;  ///< consecutive channels that are chosen together

  friend bool operator==(const RankRule&, const RankRule&) = default;
};

/// The kind of the rule for a resolved policy.
RankRule::Kind rule_kind(const RankPolicy& policy);

/// The rule for a resolved policy. `peak` is that of the PSNR.
///
/// psnr and rmse are limits for the pixels written. Rounding a value with a normal error of
/// variance v to an integer gives a mean squared error of at most min(v + 1/12, 1.34 v), so the
/// limit before rounding is max(limit - 1/12, limit / 1.34) per sample. Errors of images
/// with two or three levels are not normal, and may miss the limit by about 1 dB. Clamping only
/// helps. Float samples are not rounded to integers. Both are in units of `rounding_step`, see
/// Task.
RankRule make_rank_rule(const RankPolicy& policy, const ImageShape& shape, double peak,
                        double rounding_step = 1);

/// Whether such a rule needs all singular values.
constexpr bool needs_full_spectrum(RankRule::Kind kind) {
  return kind == RankRule::Kind::median_threshold || kind == RankRule::Kind::marchenko_pastur;
}

/// The optimal hard threshold for singular values of an m x n matrix with white noise of standard
/// deviation 1, divided by sqrt(max(m, n)): lambda(beta) of Gavish and Donoho, The optimal hard
/// threshold for singular values is 4/sqrt(3), 2014, equation 11. beta = min(m, n) / max(m, n).
double hard_threshold(double beta);

/// The optimal hard threshold for unknown noise, as a multiple of the median singular value:
/// lambda(beta) / sqrt(median of the Marchenko-Pastur distribution), equation 4 of that paper.
double hard_threshold_of_median(double beta);

/// Of float64, with a margin.
constexpr double kRoundingError = 2.3e-16;

/// The squared singular values of one plane that are known.
struct PlaneSpectrum {
  const double* values = nullptr;  ///< sigma_i^2 is scale * values[i * step]
  int step = 1;
  double scale = 1;
  bool are_roots = false;    ///< the values are sigma_i instead
  bool is_svd_of_a = false;  ///< otherwise: eigenvalues of A'A, which resolve fewer digits
  int count = 0;             ///< known values, the largest ones
  int rows = 0, cols = 0;    ///< of the plane
  double squared_norm = 0;   ///< ||A||_F^2

  ECKART_HOST_DEVICE int full_rank() const { return rows < cols ? rows : cols; }
  ECKART_HOST_DEVICE int longer_side() const { return rows < cols ? cols : rows; }
  ECKART_HOST_DEVICE bool is_complete() const { return count >= full_rank(); }
  /// Values below the rounding error of the solver in float64 count as zero: of sigma^2 for A'A, of
  /// sigma for A.
  ECKART_HOST_DEVICE double operator[](int i) const {
    const double read = values[std::ptrdiff_t(i) * step];
    const double value = scale * (are_roots ? read * read : read);
    const double resolution = kRoundingError * full_rank();
    return value > (is_svd_of_a ? resolution : 1) * resolution * squared_norm ? value : 0.0;
  }
};

/// All singular values of a plane whose spectrum is complete, decreasing.
std::vector<double> singular_values(const PlaneSpectrum& spectrum);

namespace rank_rules {

/// The index of the plane with the largest next value; -1 if none is above zero. A plane whose
/// values are all used, but not complete, counts as the largest.
ECKART_HOST_DEVICE inline int next_plane(const PlaneSpectrum* planes, int channels,
                                         const int* ranks) {
  int best = -1;
  double best_value = 0;
  for (int c = 0; c < channels; ++c) {
    if (ranks[c] >= planes[c].full_rank()) continue;
    if (ranks[c] >= planes[c].count) return c;
    const double value = planes[c][ranks[c]];
    if (value > best_value) {
      best = c;
      best_value = value;
    }
  }
  return best;
}

/// The squared error of rank 1. The difference from ||A||^2 loses digits, so the values are added
/// up if all are known well.
ECKART_HOST_DEVICE inline double squared_error_of_rank_1(const PlaneSpectrum& plane) {
  if (!plane.is_svd_of_a || !plane.is_complete()) return plane.squared_norm - plane[0];
  double sum = 0;
  for (int i = plane.full_rank() - 1; i > 0; --i) sum += plane[i];
  return sum;
}

/// Whether all values from these ranks on are zero, not only smaller than the solver resolves.
ECKART_HOST_DEVICE inline bool are_resolved(const PlaneSpectrum* planes, int channels,
                                            const int* ranks) {
  for (int c = 0; c < channels; ++c) {
    if (ranks[c] < planes[c].full_rank() && !planes[c].is_svd_of_a) return false;
  }
  return true;
}

/// Keeps the largest values of all planes until the squared error is at most `limit`. Returns false
/// if this needs values that are not known, or smaller than the solver resolves.
ECKART_HOST_DEVICE inline bool limit_squared_error(double limit, const PlaneSpectrum* planes,
                                                   int channels, int* ranks) {
  double squared_error = 0, resolution = 0;
  for (int c = 0; c < channels; ++c) {
    ranks[c] = 1;
    squared_error += squared_error_of_rank_1(planes[c]);
    if (!planes[c].is_svd_of_a)
      resolution += kRoundingError * planes[c].full_rank() * planes[c].squared_norm;
  }
  const bool is_limit_resolved = limit >= resolution;
  while (squared_error > limit) {
    const int c = next_plane(planes, channels, ranks);
    if (c < 0) return are_resolved(planes, channels, ranks);
    if (ranks[c] >= planes[c].count) return false;
    squared_error -= planes[c][ranks[c]++];
  }
  return is_limit_resolved;
}

/// Keeps all values above `limit`, at least one.
ECKART_HOST_DEVICE inline bool keep_above(double limit, const PlaneSpectrum& plane, int& rank) {
  rank = 1;
  while (rank < plane.count && plane[rank] > limit) ++rank;
  return rank < plane.count || plane.is_complete();
}

ECKART_HOST_DEVICE inline double squared_median(const PlaneSpectrum& plane) {
  const int n = plane.full_rank();
  const double upper = plane[n / 2];
  if (n % 2 != 0) return upper;
  // The mean of the two middle singular values.
  const double lower = plane[n / 2 - 1];
  return 0.25 * (upper + lower) + 0.5 * sqrt(upper * lower);
}

/// The number of values above the edge of the noise: the largest number p of smallest eigenvalues
/// whose range is not wider than that of the Marchenko-Pastur distribution with their mean as
/// variance. Veraart et al., Denoising of diffusion MRI using random matrix theory, 2016; with the
/// ratio p / (q - (n - p)) of Cordero-Grande et al., Complex diffusion-weighted image estimation
/// via matrix recovery under general noise models, 2019. dwidenoise of MRtrix3 does the same.
ECKART_HOST_DEVICE inline int rank_above_noise(const PlaneSpectrum& plane) {
  const int n = plane.full_rank(), q = plane.longer_side();
  const double smallest = plane[n - 1];
  double sum = 0;
  int noise_values = 0;
  for (int p = 1; p <= n; ++p) {
    const double value = plane[n - p];
    sum += value;
    const double ratio = double(p) / double(q - (n - p));
    if ((value - smallest) / (4 * sqrt(ratio)) <= sum / p) noise_values = p;
  }
  return n - noise_values > 1 ? n - noise_values : 1;
}

}  // namespace rank_rules

/// The squared error that a rule of kind missing_share or squared_error allows these planes. A
/// share below the rounding error of a sum of squares cannot be told from zero.
ECKART_HOST_DEVICE inline double squared_error_limit(const RankRule& rule,
                                                     const PlaneSpectrum* planes, int channels) {
  if (rule.kind == RankRule::Kind::squared_error) return rule.limit;
  double squared_norm = 0;
  for (int c = 0; c < channels; ++c) squared_norm += planes[c].squared_norm;
  return fmax(rule.limit, kRoundingError * planes[0].full_rank()) * squared_norm;
}

/// Chooses the ranks of planes that are chosen together, at least 1 each and at most the number of
/// known values. Returns false if more values are needed, of the planes whose rank is then that
/// number; if there is none, values of a more accurate solver.
ECKART_HOST_DEVICE inline bool choose_ranks(const RankRule& rule, const PlaneSpectrum* planes,
                                            int channels, int* ranks) {
  using Kind = RankRule::Kind;
  if (rule.kind == Kind::missing_share || rule.kind == Kind::squared_error) {
    return rank_rules::limit_squared_error(squared_error_limit(rule, planes, channels), planes,
                                           channels, ranks);
  }
  bool is_enough = true;
  for (int c = 0; c < channels; ++c) {
    const PlaneSpectrum& plane = planes[c];
    if (rule.kind == Kind::rank) {
      const int limit = int(rule.limit);
      ranks[c] = limit < plane.full_rank() ? limit : plane.full_rank();
      if (ranks[c] > plane.count) {
        ranks[c] = plane.count;
        is_enough = false;
      }
    } else if (rule.kind == Kind::threshold) {
      is_enough = rank_rules::keep_above(rule.limit, plane, ranks[c]) && is_enough;
    } else if (!plane.is_complete()) {
      ranks[c] = plane.count;
      is_enough = false;
    } else if (rule.kind == Kind::median_threshold) {
      rank_rules::keep_above(rule.limit * rank_rules::squared_median(plane), plane, ranks[c]);
    } else {
      ranks[c] = rank_rules::rank_above_noise(plane);
    }
  }
  return is_enough;
}

}  // namespace eckart::compute
