#pragma once

// CRC-32 and Adler-32 of parts, and of what they make together, for CPU and GPU.

#include <cstdint>

#include "core/host_device.hpp"

namespace eckart::codec::png {

/// Polynomials over GF(2) modulo that of CRC-32, with the highest power in the lowest bit, as CRCs
/// are stored. PNG (third edition), Annex D.
constexpr std::uint32_t kCrcPolynomial = 0xEDB88320;

ECKART_HOST_DEVICE inline std::uint32_t crc_times_x(std::uint32_t a) {
  return (a >> 1) ^ ((a & 1) != 0 ? kCrcPolynomial : 0);
}

ECKART_HOST_DEVICE inline std::uint32_t crc_product(std::uint32_t a, std::uint32_t b) {
  std::uint32_t product = 0;
  for (std::uint32_t bit = 0x80000000; bit != 0; bit >>= 1) {
    if ((a & bit) != 0) product ^= b;
    b = crc_times_x(b);
  }
  return product;
}

/// x^(8 bytes).
ECKART_HOST_DEVICE inline std::uint32_t crc_shift(std::uint32_t bytes) {
  std::uint32_t power = 0x80000000;   // 1
  std::uint32_t square = 0x00800000;  // x^8
  for (; bytes != 0; bytes >>= 1) {
    if ((bytes & 1) != 0) power = crc_product(power, square);
    square = crc_product(square, square);
  }
  return power;
}

/// The remainder of bytes, without the conventions of CRC-32 for its begin and end: linear, so that
/// remainder(a then b) = remainder(a) * crc_shift(size of b) ^ remainder(b).
ECKART_HOST_DEVICE inline std::uint32_t crc_append(std::uint32_t remainder, std::uint8_t byte) {
  remainder ^= byte;
  for (int bit = 0; bit < 8; ++bit) remainder = crc_times_x(remainder);
  return remainder;
}

/// The CRC-32 of bytes with this remainder.
ECKART_HOST_DEVICE inline std::uint32_t crc_of_remainder(std::uint32_t remainder,
                                                         std::uint32_t bytes) {
  return ~(remainder ^ crc_product(0xFFFFFFFF, crc_shift(bytes)));
}

/// The sums that Adler-32 is made of. RFC 1950, 8.2.
struct AdlerSums {
  std::uint64_t bytes = 0;     ///< their number
  std::uint64_t sum = 0;       ///< of the bytes
  std::uint64_t weighted = 0;  ///< of the bytes times their distance from the end, 1 for the last

  /// Of these bytes and then the others. The sums of up to 2^28 bytes are exact.
  ECKART_HOST_DEVICE AdlerSums then(const AdlerSums& other) const {
    constexpr std::uint32_t kPrime = 65521;
    return {bytes + other.bytes, (sum + other.sum) % kPrime,
            (weighted + sum % kPrime * (other.bytes % kPrime) + other.weighted) % kPrime};
  }
  ECKART_HOST_DEVICE std::uint32_t checksum() const {
    constexpr std::uint32_t kPrime = 65521;
    const std::uint64_t low = (1 + sum) % kPrime, high = (bytes + weighted) % kPrime;
    return std::uint32_t(high << 16 | low);
  }
};

}  // namespace eckart::codec::png
