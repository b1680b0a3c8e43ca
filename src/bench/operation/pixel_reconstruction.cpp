#include "bench/operation/pixel_reconstruction.hpp"

#include <cstddef>

#include "synth/random.hpp"

namespace eckart::bench {

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
