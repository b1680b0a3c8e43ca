#pragma once

#include <span>
#include <vector>

#include "core/image.hpp"

namespace eckart::test {

/// A plane's singular value decomposition in float64 by LAPACK's dgesvd (QR iteration), which no
/// backend uses.
struct ReferenceSvd {
  int rows, cols, n;          ///< n = min(rows, cols)
  std::vector<double> a;      ///< rows x cols, row-major
  std::vector<double> u;      ///< rows x n, row-major
  std::vector<double> sigma;  ///< n, descending
  std::vector<double> vt;     ///< n x cols, row-major

  /// A_k, row-major, not rounded.
  std::vector<double> reconstruct(int k) const;
  double squared_norm() const;
};

ReferenceSvd reference_svd(const Image& image, int channel);

/// Clamped and rounded to nearest even, as samples.
std::vector<int> to_samples(std::span<const double> values, Depth depth);

/// The plane's samples, row-major.
std::vector<int> samples(const Image& image, int channel);

}  // namespace eckart::test
