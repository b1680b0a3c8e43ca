#include "tests/support/reference_svd.hpp"

#include <cblas.h>
#include <lapacke.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

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

std::vector<double> float_samples(const Image& image, int channel) {
  std::vector<double> values;
  for (int row = 0; row < image.shape().rows; ++row) {
    for (int col = 0; col < image.shape().cols; ++col)
      values.push_back(image.plane<float>(channel)(row, col));
  }
  return values;
}

ReferenceSvd reference_svd(const Image& image, int channel) {
  const int rows = image.shape().rows, cols = image.shape().cols;
  if (is_float(image.shape().depth))
    return reference_svd(rows, cols, float_samples(image, channel));
  const std::vector<int> values = samples(image, channel);
  return reference_svd(rows, cols, {values.begin(), values.end()});
}

ReferenceSvd reference_svd(int rows, int cols, std::vector<double> values) {
  const int n = std::min(rows, cols);
  ReferenceSvd svd{rows, cols, n, std::move(values), {}, {}, {}};
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
