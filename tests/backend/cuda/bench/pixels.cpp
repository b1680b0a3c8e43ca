#include <cstring>

#include "core/synth.hpp"
#include "tests/backend/cuda/bench/kernel.hpp"

namespace eckart::cuda::bench {
namespace {

constexpr int kDifferent = 16;  // textures take longer to paint than all kernels together

std::vector<std::byte> textures(const Case& c) {
  const std::size_t image = std::size_t(c.side) * std::size_t(c.side);
  std::vector<std::byte> bytes(image * std::size_t(c.planes));
  for (int p = 0; p < c.planes; ++p) {
    std::byte* to = bytes.data() + image * std::size_t(p);
    if (p < kDifferent) {
      const Image texture = synthesize(
          {.kind = SynthKind::texture, .rows = c.side, .cols = c.side, .seed = std::uint64_t(p)});
      std::memcpy(to, texture.data(), image);
    } else {
      std::memcpy(to, to - image * kDifferent, image);
    }
  }
  return bytes;
}

std::vector<Plane> places(const Case& c) {
  std::vector<Plane> planes;
  for (int p = 0; p < c.planes; ++p)
    planes.push_back({std::int64_t(c.side) * c.side * p, c.side, c.side, 1, 0, 1});
  return planes;
}

}  // namespace

Pixels::Pixels(const Case& c) : bytes(textures(c)), planes(places(c)) {}

}  // namespace eckart::cuda::bench
