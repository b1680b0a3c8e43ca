#pragma once

#include <cstdint>

#include "compute/cuda/kernels/reconstruct.hpp"
#include "compute/cuda/kernels/samples.cuh"

namespace eckart::cuda {

/// The samples of a SampleGroup in registers, 8 or 16 bits each, the first in the lowest; zeros
/// beyond its count.
template <class Samples>
struct Quad;

template <>
struct Quad<std::uint8_t> {
  unsigned word;

  __device__ static Quad load(const SampleGroup<const std::uint8_t>& group) {
    if (group.is_word()) return {*reinterpret_cast<const unsigned*>(group.first)};
    unsigned samples[kGroup];
    cuda::load(group, samples);
    return {samples[0] | samples[1] << 8 | samples[2] << 16 | samples[3] << 24};
  }
  __device__ void store(const SampleGroup<std::uint8_t>& group) const {
    if (group.is_word()) {
      *reinterpret_cast<unsigned*>(group.first) = word;
    } else {
      cuda::store(group, {word & 0xffU, word >> 8 & 0xffU, word >> 16 & 0xffU, word >> 24});
    }
  }
};

template <>
struct Quad<std::uint16_t> {
  uint2 words;

  __device__ static Quad load(const SampleGroup<const std::uint16_t>& group) {
    unsigned samples[kGroup];
    cuda::load(group, samples);
    return {{samples[0] | samples[1] << 16, samples[2] | samples[3] << 16}};
  }
  __device__ void store(const SampleGroup<std::uint16_t>& group) const {
    cuda::store(group, {words.x & 0xffffU, words.x >> 16, words.y & 0xffffU, words.y >> 16});
  }
};

/// A thread's share of the errors of a tile.
template <class Samples>
struct QuadErrors;

/// Of 64 samples or less: whole numbers up to 2^24 are exact in float32.
template <>
struct QuadErrors<std::uint8_t> {
  float squared_norm = 0, squared_error = 0, residual = 0;

  /// Clamps `values` to the samples' range and rounds them to nearest even.
  __device__ Quad<std::uint8_t> add(const float (&values)[kGroup], Quad<std::uint8_t> before) {
    // The last bits of a number between 2^23 and 2^24 are a whole number. Conversions are slower.
    constexpr float kWhole = 8388608.0F;
    unsigned rounded[kGroup];
#pragma unroll
    for (int e = 0; e < kGroup; ++e) {
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

  __device__ Quad<std::uint16_t> add(const float (&values)[kGroup], Quad<std::uint16_t> before) {
    unsigned rounded[kGroup];
#pragma unroll
    for (int e = 0; e < kGroup; ++e) {
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

}  // namespace eckart::cuda
