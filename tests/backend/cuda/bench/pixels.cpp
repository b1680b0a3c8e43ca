#include <cstring>

#include "synth/synth.hpp"
#include "tests/backend/cuda/bench/kernel.hpp"

namespace eckart::compute::cuda::bench {
namespace {

constexpr int kDistinctTextures = 16;  // making a texture takes longer than all kernels

std::vector<std::byte> textures(const KernelCase& c) {
  const std::size_t image = std::size_t(c.side) * std::size_t(c.side);
  std::vector<std::byte> bytes(image * std::size_t(c.planes));
  for (int p = 0; p < c.planes; ++p) {
    std::byte* to = bytes.data() + image * std::size_t(p);
    if (p < kDistinctTextures) {
      const Image texture = synth::synthesize({.kind = synth::SynthKind::texture,
                                               .rows = c.side,
                                               .cols = c.side,
                                               .seed = std::uint64_t(p)});
      std::memcpy(to, texture.data(), image);
    } else {
      std::memcpy(to, to - image * kDistinctTextures, image);
    }
  }
  return bytes;
}

std::vector<PlaneLayout> plane_layouts(const KernelCase& c) {
  std::vector<PlaneLayout> planes;
  for (int p = 0; p < c.planes; ++p)
    planes.push_back({std::int64_t(c.side) * c.side * p, c.side, c.side, 1, 0, 1, 1});
  return planes;
}

}  // namespace

BenchPixels::BenchPixels(const KernelCase& c) : bytes(textures(c)), planes(plane_layouts(c)) {}

}  // namespace eckart::compute::cuda::bench
