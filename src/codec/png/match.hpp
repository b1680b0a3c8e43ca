#pragma once

// Matches of deflate blocks: copies of earlier bytes, for CPU and GPU.

#include <cstdint>
#include <cstring>

#include "core/host_device.hpp"

namespace eckart::codec::png {

/// A copy of earlier bytes.
struct Match {
  std::int32_t to;  ///< where its first byte goes
  std::uint16_t length, distance;

  /// The number of bytes that it copies, again and again if it is longer.
  ECKART_HOST_DEVICE std::int32_t period() const { return length < distance ? length : distance; }
  ECKART_HOST_DEVICE std::int32_t source_end() const { return to - distance + period(); }
};

/// Bytes as words of 4 bytes.
template <int kBytes>
struct ByteGroup {
  std::uint32_t words[kBytes / 4];

  /// Reads `count` bytes, at most kBytes; the rest has any value. On a GPU, all words that have one
  /// of these bytes must be readable. All are read before the first is waited for.
  ECKART_HOST_DEVICE ByteGroup(const std::uint8_t* bytes, std::int32_t count) {
#ifdef __CUDA_ARCH__
    const auto address = reinterpret_cast<std::uintptr_t>(bytes);
    const auto* const from = reinterpret_cast<const std::uint32_t*>(address & ~std::uintptr_t(3));
    const int begin = int(address & 3), needed = (begin + count + 3) / 4;
    std::uint32_t aligned[kBytes / 4 + 1];
    for (int i = 0; i <= kBytes / 4; ++i) aligned[i] = i < needed ? from[i] : 0;
    for (int i = 0; i < kBytes / 4; ++i)
      words[i] = __funnelshift_r(aligned[i], aligned[i + 1], unsigned(8 * begin));
#else
    std::memcpy(words, bytes, std::size_t(count < kBytes ? count : kBytes));
#endif
  }
  ECKART_HOST_DEVICE std::uint8_t byte(int i) const {
    return std::uint8_t(words[i / 4] >> (i % 4 * 8));
  }
};

/// Copies a match. Reads many bytes before it writes them, because each read takes long.
ECKART_HOST_DEVICE inline void copy_match(const Match& match, std::uint8_t* rows) {
  constexpr std::int32_t kGroup = 32;
  std::uint8_t* const to = rows + match.to;
  const std::uint8_t* const from = to - match.distance;
  const std::int32_t period = match.period();
  for (std::int32_t i = 0; i < match.length;) {
    const std::int32_t k = i < period ? i : i % period;
    // What was copied before is read again, if the match is longer than its distance.
    const std::int32_t ready = i + period - k, left = match.length - i;
    const std::int32_t most = left < ready ? left : ready, count = most < kGroup ? most : kGroup;
    const ByteGroup<kGroup> group(from + k, count);
    for (std::int32_t b = 0; b < kGroup; ++b)
      if (b < count) to[i + b] = group.byte(b);
    i += count;
  }
}

/// Copies a match by all lanes.
ECKART_HOST_DEVICE inline void copy_match(const Match& match, std::uint8_t* rows, int lane,
                                          int lanes) {
  std::uint8_t* const to = rows + match.to;
  const std::uint8_t* const from = to - match.distance;
  const std::int32_t period = match.period();
  for (std::int32_t i = lane; i < match.length; i += lanes) to[i] = from[i % period];
}

}  // namespace eckart::codec::png
