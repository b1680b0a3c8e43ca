#pragma once

#include <cstdint>

#include "compute/cuda/kernels/reconstruct.hpp"
#include "compute/cuda/kernels/samples.cuh"

namespace eckart::compute::cuda {

/// Four neighboring samples of a row in registers, 8 or 16 bits each, the first in the lowest bits.
template <class Samples>
struct Quad;

template <>
struct Quad<std::uint8_t> {
  unsigned word;
};
template <>
struct Quad<std::uint16_t> {
  uint2 words;
};

/// The eight quads of a thread in an image: four rows, eight apart, and two columns, sixteen apart.
template <class Samples>
class QuadGrid {
 public:
  static constexpr int kQuads = QuadLayout::kCount;
  // Loaded before the first is used.
  static constexpr int kPrefetchQuads = sizeof(Samples) == 1 ? 8 : 4;

  __device__ QuadGrid(const PlaneLayout& plane, int row, int column)
      : offset_bytes_(plane.offset_bytes + sample_index(plane, row, column) * int(sizeof(Samples))),
        step_(plane.channels),
        row_step_(8 * plane.cols * plane.channels),
        rows_(plane.rows - row),
        cols_(plane.cols - column),
        has_aligned_quads_(has_aligned_quads(plane)) {}

  /// The number of samples of the q-th quad that are inside the image.
  __device__ int count(int q) const {
    return QuadLayout::offset(q).row < rows_ ? samples_in_quad(cols_ - QuadLayout::offset(q).column)
                                             : 0;
  }
  /// Loads kPrefetchQuads quads, beginning with `first_q`.
  __device__ void load(const std::byte* pixels, int first_q,
                       Quad<Samples> (&to)[kPrefetchQuads]) const {
#pragma unroll
    for (int i = 0; i < kPrefetchQuads; ++i) {
      const int q = first_q + i;
      const auto* from =
          reinterpret_cast<const Samples*>(pixels + offset_bytes_) + sample_offset(q);
      if (has_aligned_quads_) {
        to[i] = count(q) > 0 ? *reinterpret_cast<const Quad<Samples>*>(from) : Quad<Samples>{};
        continue;
      }
      unsigned samples[kQuadSamples];
#pragma unroll
      for (int e = 0; e < kQuadSamples; ++e) samples[e] = e < count(q) ? from[e * step_] : 0;
      to[i] = pack(samples);
    }
  }
  __device__ void store(std::byte* pixels, int q, const Quad<Samples>& quad) const {
    auto* to = reinterpret_cast<Samples*>(pixels + offset_bytes_) + sample_offset(q);
    if (has_aligned_quads_) {
      if (count(q) > 0) *reinterpret_cast<Quad<Samples>*>(to) = quad;
      return;
    }
#pragma unroll
    for (int e = 0; e < kQuadSamples; ++e) {
      if (e < count(q)) to[e * step_] = sample(quad, e);
    }
  }

 private:
  __device__ std::int64_t sample_offset(int q) const {
    return QuadLayout::offset(q).row / 8 * row_step_ + QuadLayout::offset(q).column * step_;
  }
  __device__ static Quad<Samples> pack(const unsigned (&s)[kQuadSamples]) {
    if constexpr (sizeof(Samples) == 1) {
      return {s[0] | s[1] << 8 | s[2] << 16 | s[3] << 24};
    } else {
      return {{s[0] | s[1] << 16, s[2] | s[3] << 16}};
    }
  }
  __device__ static Samples sample(const Quad<Samples>& quad, int e) {
    if constexpr (sizeof(Samples) == 1) {
      return Samples(quad.word >> 8 * e);
    } else {
      return Samples((e < 2 ? quad.words.x : quad.words.y) >> e % 2 * 16);
    }
  }

  std::int64_t offset_bytes_;
  int step_;
  std::int64_t row_step_;
  int rows_, cols_;  // remaining, from the first sample
  bool has_aligned_quads_;
};

/// The errors that a thread adds up for its part of a tile.
template <class Samples>
struct QuadErrors;

// The sums of a thread are exact in float32: integers up to 2^24 are.
static_assert(QuadLayout::kCount * kQuadSamples * 255 * 255 <= 1 << 24);

template <>
struct QuadErrors<std::uint8_t> {
  float squared_norm = 0, squared_error = 0, residual = 0;

  /// Clamps `values` to the samples' range and rounds them to nearest even.
  __device__ Quad<std::uint8_t> add(const float (&values)[kQuadSamples],
                                    Quad<std::uint8_t> before) {
    // The low bits of a float32 between 2^23 and 2^24 are its integer value. This is faster than a
    // conversion.
    constexpr float kWhole = 8388608.0F;
    unsigned rounded[kQuadSamples];
#pragma unroll
    for (int e = 0; e < kQuadSamples; ++e) {
      const float sample = __uint_as_float(__byte_perm(before.word, __float_as_uint(kWhole),
                                                       0x7650U + unsigned(e))) -
                           kWhole;
      const float whole = fminf(fmaxf(values[e], 0.0F), 255.0F) + kWhole;
      const float difference = values[e] - sample, changed = (whole - kWhole) - sample;
      rounded[e] = __float_as_uint(whole);
      squared_norm += sample * sample;
      squared_error += changed * changed;
      residual += difference * difference;
    }
    return {__byte_perm(__byte_perm(rounded[0], rounded[1], 0x0040U),
                        __byte_perm(rounded[2], rounded[3], 0x0040U), 0x5410U)};
  }
};

template <>
struct QuadErrors<std::uint16_t> {
  std::uint64_t squared_norm = 0, squared_error = 0;
  float residual = 0;

  __device__ Quad<std::uint16_t> add(const float (&values)[kQuadSamples],
                                     Quad<std::uint16_t> before) {
    unsigned rounded[kQuadSamples];
#pragma unroll
    for (int e = 0; e < kQuadSamples; ++e) {
      const unsigned sample = (e < 2 ? before.words.x : before.words.y) >> e % 2 * 16 & 0xffffU;
      rounded[e] = unsigned(__float2int_rn(fminf(fmaxf(values[e], 0.0F), 65535.0F)));
      const float difference = values[e] - float(sample);
      const std::int64_t changed = std::int64_t(rounded[e]) - std::int64_t(sample);
      squared_norm += std::uint64_t(sample) * sample;
      squared_error += std::uint64_t(changed * changed);
      residual += difference * difference;
    }
    return {{rounded[0] | rounded[1] << 16, rounded[2] | rounded[3] << 16}};
  }
};

}  // namespace eckart::compute::cuda
