#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace eckart::preparation {

/// For i < n: out[i] = the sum of weights[t] * in[t * stride + i] over t, rounded to the nearest
/// integer (halves up) and clamped to the range of the samples. `weights` are fixed-point numbers
/// of fraction_bits().
void weighted_sum(const std::uint8_t* in, std::size_t stride, std::span<const std::int32_t> weights,
                  std::size_t n, std::uint8_t* out);
void weighted_sum(const std::uint16_t* in, std::size_t stride,
                  std::span<const std::int32_t> weights, std::size_t n, std::uint16_t* out);

/// The same without rounding and clamping, summed in float64.
void weighted_sum(const float* in, std::size_t stride, std::span<const double> weights,
                  std::size_t n, float* out);

}  // namespace eckart::preparation
