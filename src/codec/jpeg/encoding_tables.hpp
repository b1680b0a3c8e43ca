#pragma once

#include <cstdint>

#include "codec/jpeg/layout.hpp"
#include "codec/jpeg/tables.hpp"
#include "core/host_device.hpp"

namespace eckart::codec::jpeg {

struct HuffmanCode {
  std::uint16_t code, bits;  ///< 0 bits: there is no code
};

/// The codes of a scan. The first index is 0 for luma, 1 for chroma.
struct ScanCodes {
  HuffmanCode dc[2][16];           ///< by the bits of the value
  HuffmanCode ac[2][256];          ///< by the run of zeros << 4 and the bits of the value
  std::uint8_t order[kBlockSize];  ///< see Tables::order
};

/// All tables of an image to encode with. Plain data: it is copied to the device.
struct EncodingTables {
  ScanCodes codes;
  // Of luma, and of chroma, in the order of coefficients: column after column.
  alignas(16) std::uint16_t quantization[2][kBlockSize];
  std::uint32_t reciprocals[2][kBlockSize];  ///< see quantize()
};

/// The specs must be valid; both chroma channels have the quantization of the first.
EncodingTables build_encoding_tables(const TableSpecs& specs);

/// The results of the forward DCT are 8 times the coefficients.
inline constexpr std::uint32_t kCoefficientScale = 8;

/// Of a divisor of 8 to 2,040: 2^32 / divisor, rounded up.
constexpr std::uint32_t reciprocal_of(std::uint32_t divisor) {
  return std::uint32_t(((std::uint64_t(1) << 32) + divisor - 1) / divisor);
}

/// value / (8 * quantization), rounded to the nearest, halves away from zero, as libjpeg-turbo
/// does. The product with the reciprocal exceeds the quotient by less than 1 / divisor, because
/// size * divisor < 2^32: so its integer part is exact. Requires |value| < 2^20.
ECKART_HOST_DEVICE inline std::int16_t quantize(std::int32_t value, std::uint16_t quantization,
                                                std::uint32_t reciprocal) {
  const std::uint32_t half = kCoefficientScale / 2 * quantization;
  const std::uint32_t size = std::uint32_t(value < 0 ? -value : value) + half;
  const auto quotient = std::int32_t(std::uint64_t(size) * reciprocal >> 32);
  return std::int16_t(value < 0 ? -quotient : quotient);
}

}  // namespace eckart::codec::jpeg
