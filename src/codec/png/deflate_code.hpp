#pragma once

// Prefix codes of deflate blocks, RFC 1951, for CPU and GPU: only integers, no sort, no tree.

#include <cstdint>

#include "core/host_device.hpp"

namespace eckart::codec::png {

constexpr int kEndOfBlock = 256;      ///< symbol after the 256 literals
constexpr int kDeflateSymbols = 286;  ///< literals, end of block, 29 lengths
constexpr int kMaxCodeBits = 15;
constexpr int kMinMatch = 3, kMaxMatch = 258;

/// The position of the highest bit that is set. Requires x > 0.
ECKART_HOST_DEVICE inline int highest_bit(std::uint32_t x) {
#ifdef __CUDA_ARCH__
  return 31 - __clz(int(x));
#else
  return 31 - __builtin_clz(x);
#endif
}

/// 256 log2(x), at most 3 too small or too large. Requires x > 0.
ECKART_HOST_DEVICE inline int log2_times_256(std::uint32_t x) {
  const int exponent = highest_bit(x);
  const int mantissa = int((std::uint64_t(x) << 8 >> exponent) & 255);
  return exponent * 256 + mantissa + (mantissa * (256 - mantissa) * 89 >> 16);  // a parabola
}

/// The threads that work together on a code: here one, on a GPU those of a warp.
struct OneThread {
  static constexpr int kCount = 1;
  ECKART_HOST_DEVICE int index() const { return 0; }
  ECKART_HOST_DEVICE std::uint32_t sum(std::uint32_t x) const { return x; }  ///< over the threads
  ECKART_HOST_DEVICE void sync() const {}
};

/// Memory for choose_code_lengths().
struct LengthScratch {
  std::int16_t ideal[kDeflateSymbols];  ///< -256 log2 of the frequency
};

/// Chooses the length of the code of each symbol: -log2 of its frequency, rounded so that the codes
/// are a complete prefix code with at most `max_bits` bits (Kraft's equality). Within 0.3 % of a
/// Huffman code on images. `counts`: of the symbols; 0: no code, length 0. At least two symbols
/// must occur, and the sum of the counts must be below 2^22.
template <class Threads>
ECKART_HOST_DEVICE inline void choose_code_lengths(const std::uint32_t* counts, int symbols,
                                                   int max_bits, std::uint8_t* lengths,
                                                   LengthScratch& scratch, const Threads& threads) {
  const auto sum_of = [&](const auto& term) {
    std::uint32_t sum = 0;
    for (int s = threads.index(); s < symbols; s += Threads::kCount)
      sum += counts[s] == 0 ? 0 : term(s);
    return threads.sum(sum);
  };
  const int total_log2 = log2_times_256(sum_of([&](int s) { return counts[s]; }));
  for (int s = threads.index(); s < symbols; s += Threads::kCount)
    scratch.ideal[s] = std::int16_t(counts[s] == 0 ? 0 : total_log2 - log2_times_256(counts[s]));
  const std::uint32_t full = 1U << max_bits;  // the sum of 2^(max_bits - length) of a complete code
  const auto rounded = [&](int s, int offset) {
    const int length = (scratch.ideal[s] + offset) >> 8;
    return length < 1 ? 1 : length > max_bits ? max_bits : length;
  };
  // Bisect for the smallest offset with which the code is not oversubscribed. 128 rounds to the
  // nearest integer; with 512 no code is oversubscribed.
  int too_small = -1, offset = 512;
  while (offset - too_small > 1) {
    const int middle = (offset + too_small) / 2;
    const bool fits = sum_of([&](int s) { return full >> rounded(s, middle); }) <= full;
    (fits ? offset : too_small) = middle;
  }
  for (int s = threads.index(); s < symbols; s += Threads::kCount)
    lengths[s] = std::uint8_t(counts[s] == 0 ? 0 : rounded(s, offset));
  // What is left makes codes shorter by one bit. It is a multiple of what the longest code needs,
  // so all of it is used up.
  std::uint32_t rest = full - sum_of([&](int s) { return full >> lengths[s]; });
  threads.sync();
  if (threads.index() > 0) rest = 0;  // the first one does this alone
  while (rest > 0) {
    for (int length = 2; length <= max_bits; ++length) {
      const std::uint32_t needed = full >> length;
      for (int s = 0; s < symbols && rest >= needed; ++s) {
        if (lengths[s] != length) continue;
        --lengths[s];
        rest -= needed;
      }
    }
  }
  threads.sync();
}

ECKART_HOST_DEVICE inline std::uint32_t reverse_bits(std::uint32_t bits, int count) {
#ifdef __CUDA_ARCH__
  return __brev(bits) >> (32 - count);
#else
  std::uint32_t reversed = 0;
  for (int i = 0; i < count; ++i, bits >>= 1) reversed = reversed << 1 | (bits & 1);
  return reversed;
#endif
}

/// Assigns the codes of RFC 1951, 3.2.2, with the bits in the order of the stream: the first bit is
/// the lowest.
ECKART_HOST_DEVICE inline void assign_codes(const std::uint8_t* lengths, int symbols,
                                            std::uint16_t* codes) {
  std::uint32_t next[kMaxCodeBits + 2] = {};
  for (int s = 0; s < symbols; ++s) ++next[lengths[s] + 1];
  next[1] = 0;
  for (int length = 1; length <= kMaxCodeBits; ++length)
    next[length + 1] = (next[length + 1] + next[length]) << 1;
  for (int s = 0; s < symbols; ++s) {
    const int length = lengths[s];
    codes[s] = length == 0 ? std::uint16_t(0) : std::uint16_t(reverse_bits(next[length]++, length));
  }
}

}  // namespace eckart::codec::png
