#include "tests/support/reference_svd.hpp"

#include <cblas.h>
#include <lapacke.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace eckart::test {

std::vector<int> samples(const Image& image, int channel) {
  std::vector<int> values;
  for (int row = 0; row < image.shape().rows; ++row) {
    for (int col = 0; col < image.shape().cols; ++col) {
      values.push_back(image.shape().depth == Depth::u8
                           ? image.plane<std::uint8_t>(channel)(row, col)
                           : image.plane<std::uint16_t>(channel)(row, col));
    }
  }
  return values;
}

std::vector<int> to_samples(std::span<const double> values, Depth depth) {
  std::vector<int> rounded;
  for (const double value : values) {
    rounded.push_back(int(std::nearbyint(std::clamp(value, 0.0, double(peak(depth))))));
  }
  return rounded;
}

ReferenceSvd reference_svd(const Image& image, int channel) {
  const int rows = image.shape().rows, cols = image.shape().cols, n = std::min(rows, cols);
  const std::vector<int> values = samples(image, channel);
  ReferenceSvd svd{rows, cols, n, {values.begin(), values.end()}, {}, {}, {}};
  svd.u.resize(std::size_t(rows) * std::size_t(n));
  svd.sigma.resize(std::size_t(n));
  svd.vt.resize(std::size_t(n) * std::size_t(cols));
  std::vector<double> a = svd.a;
  std::vector<double> superdiagonal(static_cast<std::size_t>(n));
  if (LAPACKE_dgesvd(LAPACK_ROW_MAJOR, 'S', 'S', rows, cols, a.data(), cols, svd.sigma.data(),
                     svd.u.data(), n, svd.vt.data(), cols, superdiagonal.data()) != 0) {
    throw std::runtime_error("dgesvd did not converge");
  }
  return svd;
}

std::vector<double> ReferenceSvd::reconstruct(int k) const {
  std::vector<double> scaled = u, result(a.size());
  for (int row = 0; row < rows; ++row) {
    for (int i = 0; i < n; ++i)
      scaled[std::size_t(row) * std::size_t(n) + std::size_t(i)] *= sigma[std::size_t(i)];
  }
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, cols, k, 1.0, scaled.data(), n,
              vt.data(), cols, 0.0, result.data(), cols);
  return result;
}

double ReferenceSvd::squared_norm() const {
  return cblas_ddot(int(a.size()), a.data(), 1, a.data(), 1);
}

}  // namespace eckart::test
