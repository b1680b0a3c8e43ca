#pragma once

#include <span>
#include <vector>

#include "core/image.hpp"

namespace eckart::test {

/// The singular value decomposition of a plane in float64, by dgesvd of LAPACK (QR iteration),
/// which no backend uses.
struct ReferenceSvd {
  int rows, cols, n;          ///< n = min(rows, cols)
  std::vector<double> a;      ///< rows x cols, row-major
  std::vector<double> u;      ///< rows x n, row-major
  std::vector<double> sigma;  ///< n, descending
  std::vector<double> vt;     ///< n x cols, row-major

  /// The reconstruction A_k, row-major, not rounded.
  std::vector<double> reconstruct(int k) const;
  double squared_norm() const;
};

ReferenceSvd reference_svd(const Image& image, int channel);
/// `a`: rows x cols, row-major.
ReferenceSvd reference_svd(int rows, int cols, std::vector<double> a);

/// Converts values to samples: clamps, then rounds to nearest even.
std::vector<int> to_samples(std::span<const double> values, Depth depth);

/// The samples of a plane of floats, row-major.
std::vector<double> float_samples(const Image& image, int channel);

/// The samples of a plane of integers, row-major.
std::vector<int> samples(const Image& image, int channel);

}  // namespace eckart::test
