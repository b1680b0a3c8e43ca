#include "bench/operation/batch.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>

#include "synth/random.hpp"

namespace eckart::bench {

std::string BatchShape::text() const {
  return std::to_string(images) + " of " + std::to_string(m) + " × " + std::to_string(n) +
         ", k = " + std::to_string(k);
}
std::size_t BatchShape::factor_count() const {
  return (std::size_t(m) + std::size_t(n) + 1) * std::size_t(k);
}
std::size_t BatchShape::pixel_count() const { return std::size_t(m) * std::size_t(n); }

std::vector<float> random_factors(const BatchShape& shape, int image) {
  constexpr double kGray = 128, kContrast = 100;
  const auto k = std::size_t(shape.k), m = std::size_t(shape.m), n = std::size_t(shape.n);
  synth::Random random(1, std::uint64_t(image));
  std::vector<float> factors(shape.factor_count());
  for (float& factor : factors) factor = float(random.uniform(-1, 1));
  const auto u_mk = factors.begin(), s_k = u_mk + std::ptrdiff_t(m * k),
             vt_kn = s_k + std::ptrdiff_t(k);
  for (std::size_t i = 0; i < m; ++i) u_mk[std::ptrdiff_t(i * k)] = 1;
  std::fill(vt_kn, vt_kn + std::ptrdiff_t(n), 1.0F);
  std::fill(s_k, s_k + std::ptrdiff_t(k), float(kContrast / std::sqrt(double(k))));
  *s_k = float(kGray);
  return factors;
}

std::vector<std::uint8_t> reference_pixels(const BatchShape& shape,
                                           const std::vector<float>& factors) {
  const auto k = std::size_t(shape.k), m = std::size_t(shape.m), n = std::size_t(shape.n);
  const float *u_mk = factors.data(), *s_k = u_mk + m * k, *vt_kn = s_k + k;
  std::vector<std::uint8_t> pixels(shape.pixel_count());
  std::vector<double> row(n);
  for (std::size_t i = 0; i < m; ++i) {
    std::fill(row.begin(), row.end(), 0.0);
    for (std::size_t t = 0; t < k; ++t) {
      const double factor = double(u_mk[i * k + t]) * double(s_k[t]);
      for (std::size_t j = 0; j < n; ++j) row[j] += factor * double(vt_kn[t * n + j]);
    }
    for (std::size_t j = 0; j < n; ++j)
      pixels[i * n + j] = std::uint8_t(std::clamp(std::nearbyint(row[j]), 0.0, 255.0));
  }
  return pixels;
}

bool are_right(const std::vector<std::uint8_t>& pixels,
               const std::vector<std::uint8_t>& reference) {
  if (pixels.size() != reference.size()) return false;
  std::size_t different = 0;
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    const int difference = std::abs(int(pixels[i]) - int(reference[i]));
    if (difference > 1) return false;
    different += std::size_t(difference);
  }
  return different <= 1 + pixels.size() / 1000;
}

}  // namespace eckart::bench
