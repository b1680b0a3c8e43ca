#pragma once

// The parts of deflate blocks with literals and runs, for CPU and GPU.

#include <cstdint>

#include "codec/png/deflate_code.hpp"
#include "core/host_device.hpp"

namespace eckart::codec::png {

/// Writes bits to memory, the lowest first, as deflate does.
class BitWriter {
 public:
  ECKART_HOST_DEVICE explicit BitWriter(std::uint8_t* to) : to_(to) {}

  /// Requires count <= 32, and no bits of `value` above.
  ECKART_HOST_DEVICE void put(std::uint32_t value, int count) {
    bits_ |= std::uint64_t(value) << count_;
    count_ += count;
    for (; count_ >= 8; count_ -= 8, bits_ >>= 8) *to_++ = std::uint8_t(bits_);
  }
  /// Fills the last byte with zeros. Returns the end of what was written.
  ECKART_HOST_DEVICE std::uint8_t* finish() {
    if (count_ > 0) put(0, 8 - count_);
    return to_;
  }

 private:
  friend class LiteralWriter;
  std::uint8_t* to_;
  std::uint64_t bits_ = 0;
  int count_ = 0;
};

/// A symbol with the extra bits that follow its code. RFC 1951, 3.2.5.
struct LengthSymbol {
  int symbol, extra_bits;
  std::uint32_t extra;
};
/// Requires kMinMatch <= length <= kMaxMatch.
ECKART_HOST_DEVICE inline LengthSymbol length_symbol(int length) {
  if (length == kMaxMatch) return {285, 0, 0};
  const auto rest = std::uint32_t(length - kMinMatch);
  if (rest < 8) return {257 + int(rest), 0, 0};
  const int extra_bits = highest_bit(rest) - 2;
  return {261 + 4 * extra_bits + int(rest >> extra_bits & 3), extra_bits,
          rest & ((1U << extra_bits) - 1)};
}

/// The codes of the distances 1 and 2; only the first is used. Both have one bit, because some
/// decoders refuse an incomplete code.
constexpr int kDistanceCodes = 2, kDistanceBits = 1;
constexpr std::uint32_t kDistanceOne = 0;

/// The code of a block.
struct BlockCode {
  std::uint8_t lengths[kDeflateSymbols];
  std::uint16_t codes[kDeflateSymbols];
};

/// The largest number of bytes of write_block_header(), with bits of the block before.
constexpr int kMaxHeaderBytes = 3 + (14 + 19 * 3 + (kDeflateSymbols + kDistanceCodes) * 14) / 8;

/// Writes the header of a block with a dynamic code. RFC 1951, 3.2.7.
ECKART_HOST_DEVICE inline void write_block_header(const BlockCode& code, bool is_last,
                                                  BitWriter& to) {
  constexpr int kRepeat = 16, kFewZeros = 17, kManyZeros = 18, kLengthCodes = 19;
  constexpr int kMaxLengthCodeBits = 7;
  constexpr std::uint8_t kOrder[kLengthCodes] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                 11, 4,  12, 3, 13, 2, 14, 1, 15};
  int symbols = kDeflateSymbols;
  while (code.lengths[symbols - 1] == 0) --symbols;  // ends at the end of block, which has a code

  // The lengths as runs: symbol, and a count behind it in the upper bits.
  std::uint16_t runs[kDeflateSymbols + kDistanceCodes];
  std::uint32_t counts[kLengthCodes] = {};
  int run_count = 0;
  const int total = symbols + kDistanceCodes;
  const auto length_at = [&](int s) { return s < symbols ? int(code.lengths[s]) : kDistanceBits; };
  const auto add = [&](int symbol, int extra) {
    runs[run_count++] = std::uint16_t(symbol | extra << 8);
    ++counts[symbol];
  };
  for (int begin = 0, end; begin < total; begin = end) {
    const int length = length_at(begin);
    for (end = begin + 1; end < total && length_at(end) == length; ++end) {
    }
    int rest = end - begin;
    if (length == 0) {
      for (; rest >= 11; rest -= rest > 138 ? 138 : rest)
        add(kManyZeros, (rest > 138 ? 138 : rest) - 11);
      if (rest >= 3) {
        add(kFewZeros, rest - 3);
        rest = 0;
      }
    } else {
      add(length, 0);
      for (--rest; rest >= 3; rest -= rest > 6 ? 6 : rest) add(kRepeat, (rest > 6 ? 6 : rest) - 3);
    }
    for (; rest > 0; --rest) add(length, 0);
  }

  std::uint8_t lengths[kLengthCodes];
  std::uint16_t codes[kLengthCodes];
  choose_code_lengths(counts, kLengthCodes, kMaxLengthCodeBits, lengths);
  assign_codes(lengths, kLengthCodes, codes);
  int stored = kLengthCodes;
  while (stored > 4 && lengths[kOrder[stored - 1]] == 0) --stored;

  to.put(is_last ? 1 : 0, 1);
  to.put(2, 2);  // dynamic code
  to.put(std::uint32_t(symbols - 257), 5);
  to.put(std::uint32_t(kDistanceCodes - 1), 5);
  to.put(std::uint32_t(stored - 4), 4);
  for (int i = 0; i < stored; ++i) to.put(lengths[kOrder[i]], 3);
  for (int i = 0; i < run_count; ++i) {
    const int symbol = runs[i] & 0xFF;
    to.put(codes[symbol], lengths[symbol]);
    if (symbol >= kRepeat)
      to.put(std::uint32_t(runs[i] >> 8), symbol == kRepeat ? 2 : symbol == kFewZeros ? 3 : 7);
  }
}

}  // namespace eckart::codec::png
