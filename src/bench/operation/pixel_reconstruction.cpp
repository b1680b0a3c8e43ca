#include "bench/operation/pixel_reconstruction.hpp"

#include <algorithm>
#include <cstddef>

#include "synth/random.hpp"

namespace eckart::bench {
namespace {

using Arithmetic = PixelVariant::Arithmetic;

double flops_per_s(Arithmetic arithmetic, const Ceilings& ceilings) {
  constexpr double kFloat16OverTf32 = 2;  // of tensor cores
  switch (arithmetic) {
    case Arithmetic::float32:
      return ceilings.float32_per_s;
    case Arithmetic::float64:
      return ceilings.float64_per_s;
    case Arithmetic::float16_products:
      return kFloat16OverTf32 * ceilings.tensor_per_s;
  }
  return 0;
}

}  // namespace

double pixel_flops(const BatchShape& shape) {
  return 2.0 * shape.images * double(shape.pixel_count()) * shape.k;
}

double pixel_bytes(const BatchShape& shape, const PixelVariant& variant) {
  const double bytes_per_number = variant.is_float64() ? 8 : 4;  // two of float16
  const double numbers = double(shape.m + shape.n) * shape.k;
  return shape.images * (bytes_per_number * numbers + 2.0 * double(shape.pixel_count()));
}

double shortest_time(const BatchShape& shape, const PixelVariant& variant,
                     const Ceilings& ceilings) {
  const double memory_s = pixel_bytes(shape, variant) / ceilings.bytes_per_s;
  const double per_s = flops_per_s(variant.arithmetic, ceilings);
  return per_s > 0 ? std::max(memory_s, pixel_flops(shape) / per_s) : memory_s;
}

std::vector<std::uint8_t> original_pixels(const BatchShape& shape, int image) {
  synth::Random random(2, std::uint64_t(image));
  std::vector<std::uint8_t> pixels(shape.pixel_count());
  for (std::uint8_t& pixel : pixels) pixel = std::uint8_t(random.uniform(0, 256));
  return pixels;
}

double squared_difference(const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::int64_t difference = std::int64_t(a[i]) - std::int64_t(b[i]);
    sum += difference * difference;
  }
  return double(sum);
}

}  // namespace eckart::bench
