#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace eckart::codec {

/// Unpacks samples of 1, 2, 4 or 8 bits, the first in the highest bits. `packed` must hold
/// samples.size() x bits.
inline void unpack_samples(const std::byte* packed, int bits, std::span<std::uint8_t> samples) {
  const unsigned mask = (1U << bits) - 1;
  int shift = 8;
  for (std::uint8_t& sample : samples) {
    shift -= bits;
    sample = std::uint8_t(unsigned(*packed) >> shift & mask);
    if (shift > 0) continue;
    shift = 8;
    ++packed;
  }
}

/// Returns the bytes of a row of `samples` samples, without padding to more than a byte.
constexpr std::size_t packed_bytes(std::size_t samples, int bits) {
  return (samples * std::size_t(bits) + 7) / 8;
}

}  // namespace eckart::codec
