#pragma once

#include <cstdint>

#include "codec/jpeg/encoding_tables.hpp"
#include "codec/jpeg/idct.hpp"
#include "codec/jpeg/layout.hpp"
#include "core/host_device.hpp"

// The forward DCT of libjpeg's method "islow" in its integers: the transposed network of idct.hpp.
// Rows first, results with 2 more bits, then columns. No sum overflows for samples of 8 bits.
namespace eckart::codec::jpeg {

/// Transforms 8 values in place, divides them by 2^shift and rounds.
ECKART_HOST_DEVICE inline void forward_transform(std::int32_t (&v)[kBlockSide], int shift) {
  std::int32_t sums[kBlockSide / 2], differences[kBlockSide / 2];
  for (int i = 0; i < kBlockSide / 2; ++i) {
    sums[i] = v[i] + v[kBlockSide - 1 - i];
    differences[i] = v[i] - v[kBlockSide - 1 - i];
  }
  // Even part: a rotation by 3 pi / 8.
  const std::int32_t s03 = sums[0] + sums[3], s12 = sums[1] + sums[2];
  const std::int32_t d03 = sums[0] - sums[3], d12 = sums[1] - sums[2];
  const std::int32_t rotated = (d03 + d12) * 4433;  // sqrt(2) cos(3 pi / 8)
  v[0] = (s03 + s12) * (1 << kConstantBits);
  v[4] = (s03 - s12) * (1 << kConstantBits);
  v[2] = rotated + d03 * 6270;
  v[6] = rotated - d12 * 15137;
  // Odd part: figure 8 of the paper, with sums of two inputs shared.
  const auto [d0, d1, d2, d3] = differences;
  const std::int32_t common = (d0 + d1 + d2 + d3) * 9633;
  const std::int32_t s_03 = (d0 + d3) * 7373, s_12 = (d1 + d2) * 20995;
  const std::int32_t s_13 = common - (d1 + d3) * 16069, s_02 = common - (d0 + d2) * 3196;
  v[1] = d0 * 12299 - s_03 + s_02;
  v[3] = d1 * 25172 - s_12 + s_13;
  v[5] = d2 * 16819 - s_12 + s_02;
  v[7] = d3 * 2446 - s_03 + s_13;
  const std::int32_t half = 1 << (shift - 1);
  for (std::int32_t& value : v) value = (value + half) >> shift;
}

/// Transforms a row of samples of 0 to 255.
ECKART_HOST_DEVICE inline void forward_transform_row(std::int32_t (&row)[kBlockSide]) {
  for (std::int32_t& sample : row) sample -= 128;
  forward_transform(row, kConstantBits - kColumnBits);
}

/// Transforms and quantizes one column of transformed rows.
ECKART_HOST_DEVICE inline void forward_transform_column(std::int32_t (&column)[kBlockSide],
                                                        const std::uint16_t* quantization,
                                                        const std::uint32_t* reciprocals,
                                                        std::int16_t (&coefficients)[kBlockSide]) {
  forward_transform(column, kConstantBits + kColumnBits);
  for (int i = 0; i < kBlockSide; ++i)
    coefficients[i] = quantize(column[i], quantization[i], reciprocals[i]);
}

}  // namespace eckart::codec::jpeg
