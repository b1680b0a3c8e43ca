#pragma once

#include <cstdint>
#include <type_traits>

#include "compute/cuda/layout/plane_layout.hpp"
#include "compute/cuda/layout/quads.hpp"

namespace eckart::compute::cuda {

/// Up to kQuadSamples neighboring samples of an image row in memory.
template <class Samples>
struct SampleQuad {
  Samples* first;
  int step;   ///< distance of two neighboring samples
  int count;  ///< samples inside the image
  /// True if the samples are an aligned word of four bytes.
  __device__ bool is_word() const {
    return sizeof(Samples) == 1 && step == 1 && count == kQuadSamples &&
           reinterpret_cast<std::uintptr_t>(first) % kQuadSamples == 0;
  }
};

/// The samples from (row, col) of the image on.
template <class Samples, class Bytes>
__device__ SampleQuad<Samples> sample_quad(Bytes* pixels, const PlaneLayout& plane, int row,
                                           int col) {
  auto* image = reinterpret_cast<Samples*>(pixels + plane.offset_bytes);
  const int left = row < plane.rows ? samples_in_quad(plane.cols - col) : 0;
  return {image + sample_index(plane, row, col), plane.channels, left};
}

/// The type of samples in registers.
template <class Samples>
using Value = std::conditional_t<std::is_same_v<Samples, float>, float, unsigned>;

template <class Samples>
__device__ void load(const SampleQuad<const Samples>& group, Value<Samples> (&to)[kQuadSamples]) {
  if (group.is_word()) {
    const uchar4 word = *reinterpret_cast<const uchar4*>(group.first);
    to[0] = word.x, to[1] = word.y, to[2] = word.z, to[3] = word.w;
    return;
  }
#pragma unroll
  for (int i = 0; i < kQuadSamples; ++i) to[i] = i < group.count ? group.first[i * group.step] : 0;
}

template <class Samples>
__device__ void store(const SampleQuad<Samples>& group,
                      const Value<Samples> (&from)[kQuadSamples]) {
  if (group.is_word()) {
    *reinterpret_cast<uchar4*>(group.first) = uchar4{std::uint8_t(from[0]), std::uint8_t(from[1]),
                                                     std::uint8_t(from[2]), std::uint8_t(from[3])};
    return;
  }
#pragma unroll
  for (int i = 0; i < kQuadSamples; ++i) {
    if (i < group.count) group.first[i * group.step] = Samples(from[i]);
  }
}

}  // namespace eckart::compute::cuda
