#pragma once

#include <cstdint>
#include <type_traits>

#include "compute/cuda/layout/plane_layout.hpp"
#include "compute/cuda/layout/quads.hpp"

namespace eckart::compute::cuda {

/// Four neighboring samples of an image row.
template <class Samples>
struct alignas(kQuadSamples * sizeof(Samples)) SampleQuad {
  Samples at[kQuadSamples];
};
/// The same, each sample in a register.
template <class Samples>
struct SeparateSamples {
  std::conditional_t<std::is_same_v<Samples, float>, float, unsigned> at[kQuadSamples];
};

/// Loads and stores the quads of a plane. `kIsAligned`: has_aligned_quads(plane). This is a
/// template parameter because a branch in load() would wait for each quad before the next is
/// loaded.
template <class SamplesOfPlane, bool kIsAligned>
class PlaneQuads {
 public:
  using Samples = SamplesOfPlane;
  using Quad = std::conditional_t<kIsAligned, SampleQuad<Samples>, SeparateSamples<Samples>>;

  __device__ explicit PlaneQuads(const PlaneLayout& plane) : plane_(plane) {}

  /// The number of samples of the quad at this position that are inside the plane.
  __device__ int count(Position at) const {
    return at.row < plane_.rows ? samples_in_quad(plane_.cols - at.column) : 0;
  }
  /// Samples outside the plane are zero.
  __device__ Quad load(const std::byte* pixels, Position at) const {
    const auto* from = reinterpret_cast<const Samples*>(pixels + plane_.offset_bytes) + index(at);
    const int inside = count(at);
    Quad quad{};
    if constexpr (kIsAligned) {
      if (inside > 0) quad = *reinterpret_cast<const Quad*>(from);
    } else {
#pragma unroll
      for (int e = 0; e < kQuadSamples; ++e) {
        if (e < inside) quad.at[e] = from[e * plane_.channels];
      }
    }
    return quad;
  }
  /// Leaves out the samples outside the plane.
  __device__ void store(std::byte* pixels, Position at, const Quad& quad) const {
    auto* to = reinterpret_cast<Samples*>(pixels + plane_.offset_bytes) + index(at);
    const int inside = count(at);
    if constexpr (kIsAligned) {
      if (inside > 0) *reinterpret_cast<Quad*>(to) = quad;
    } else {
#pragma unroll
      for (int e = 0; e < kQuadSamples; ++e) {
        if (e < inside) to[e * plane_.channels] = Samples(quad.at[e]);
      }
    }
  }

 private:
  __device__ std::int64_t index(Position at) const {
    return sample_index(plane_, at.row, at.column);
  }
  const PlaneLayout& plane_;
};

/// Returns function(PlaneQuads<...>(plane)).
template <class Samples, class Function>
__device__ auto with_plane_quads(const PlaneLayout& plane, const Function& function) {
  if (has_aligned_quads(plane)) return function(PlaneQuads<Samples, true>(plane));
  return function(PlaneQuads<Samples, false>(plane));
}

}  // namespace eckart::compute::cuda
