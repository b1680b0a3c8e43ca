#pragma once

#include <cstdint>

#include "codec/jpeg/layout.hpp"
#include "core/host_device.hpp"

// The inverse DCT of libjpeg's method "islow" (Loeffler, Ligtenberg and Moschytz, ICASSP 1989) in
// its integers: columns first, results with 2 more bits, then rows. libjpeg-turbo computes sums in
// 16 or 32 bits and saturates some; where no sum exceeds its type, all its versions give these
// samples. The checks below leave a factor of 4 or more to what an encoder writes for 8-bit
// samples.
namespace eckart::codec::jpeg {

inline constexpr int kConstantBits = 13;  ///< after the binary point of constants
inline constexpr int kColumnBits = 2;     ///< after the binary point of transformed columns
/// Of dequantized coefficients: no sum of a column overflows.
inline constexpr std::int32_t kMaxCoefficient = 8191;
inline constexpr std::int32_t kMaxColumnValue = 16383;
inline constexpr std::int32_t kMaxSample = 511;  ///< before 128 is added, and it is clamped

/// Transforms 8 values in place, divides them by 2^shift and rounds.
ECKART_HOST_DEVICE inline void transform(std::int32_t (&v)[kBlockSide], int shift) {
  // Even part: a rotation of v[2] and v[6] by 3 pi / 8.
  const std::int32_t rotated = (v[2] + v[6]) * 4433;  // sqrt(2) cos(3 pi / 8)
  const std::int32_t e2 = rotated - v[6] * 15137, e3 = rotated + v[2] * 6270;
  const std::int32_t e0 = (v[0] + v[4]) * (1 << kConstantBits);
  const std::int32_t e1 = (v[0] - v[4]) * (1 << kConstantBits);
  const std::int32_t even[4] = {e0 + e3, e1 + e2, e1 - e2, e0 - e3};
  // Odd part: figure 8 of the paper, with sums of two inputs shared.
  const std::int32_t common = (v[1] + v[3] + v[5] + v[7]) * 9633;
  const std::int32_t s17 = (v[1] + v[7]) * 7373, s35 = (v[3] + v[5]) * 20995;
  const std::int32_t s37 = common - (v[3] + v[7]) * 16069, s15 = common - (v[1] + v[5]) * 3196;
  const std::int32_t odd[4] = {v[1] * 12299 + (s15 - s17), v[3] * 25172 + (s37 - s35),
                               v[5] * 16819 + (s15 - s35), v[7] * 2446 + (s37 - s17)};
  const std::int32_t half = 1 << (shift - 1);
  for (int i = 0; i < kBlockSide / 2; ++i) {
    v[i] = (even[i] + odd[i] + half) >> shift;
    v[kBlockSide - 1 - i] = (even[i] - odd[i] + half) >> shift;
  }
}

ECKART_HOST_DEVICE inline bool is_within(const std::int32_t (&v)[kBlockSide], std::int32_t limit) {
  bool is_within = true;
  for (const std::int32_t value : v) is_within &= value <= limit && value >= -limit;
  return is_within;
}

/// Dequantizes and transforms one column, and writes it to `column`. Returns false if a value is
/// out of range.
ECKART_HOST_DEVICE inline bool transform_column(const std::int16_t* coefficients,
                                                const std::uint16_t* quantization,
                                                std::int32_t (&column)[kBlockSide]) {
  for (int i = 0; i < kBlockSide; ++i) column[i] = coefficients[i] * std::int32_t(quantization[i]);
  if (!is_within(column, kMaxCoefficient)) return false;
  transform(column, kConstantBits - kColumnBits);
  return is_within(column, kMaxColumnValue);
}

/// Transforms one row of transformed columns to samples of 0 to 255. Returns false if a value is
/// out of range.
ECKART_HOST_DEVICE inline bool transform_row(std::int32_t (&row)[kBlockSide]) {
  transform(row, kConstantBits + kColumnBits + 3);
  const bool is_in_range = is_within(row, kMaxSample);
  for (std::int32_t& value : row) {
    value += 128;
    value = value < 0 ? 0 : value > 255 ? 255 : value;
  }
  return is_in_range;
}

/// Dequantizes and transforms the 64 coefficients of a block. Returns false if a value is out of
/// range. `stride` is the number of samples from row to row.
inline bool transform_block(const std::int16_t* coefficients, const std::uint16_t* quantization,
                            std::uint8_t* samples, std::int32_t stride) {
  std::int32_t columns[kBlockSide][kBlockSide];
  for (auto& column : columns) {
    if (!transform_column(coefficients, quantization, column)) return false;
    coefficients += kBlockSide;
    quantization += kBlockSide;
  }
  for (int row = 0; row < kBlockSide; ++row, samples += stride) {
    std::int32_t values[kBlockSide];
    for (int col = 0; col < kBlockSide; ++col) values[col] = columns[col][row];
    if (!transform_row(values)) return false;
    for (int col = 0; col < kBlockSide; ++col) samples[col] = std::uint8_t(values[col]);
  }
  return true;
}

}  // namespace eckart::codec::jpeg
