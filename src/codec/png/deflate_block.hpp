#pragma once

// IDAT chunks with deflate blocks of literals and runs, for CPU and GPU.

#include <cstddef>
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
  /// The bits since `begin`, where a writer began.
  ECKART_HOST_DEVICE std::uint32_t bits_since(const std::uint8_t* begin) const {
    return std::uint32_t(8 * (to_ - begin) + count_);
  }
  /// Fills the last byte with zeros. Returns the end of what was written.
  ECKART_HOST_DEVICE std::uint8_t* align() {
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

/// What follows the code of kEndOfBlock of each block but the last: the header of an empty stored
/// block in kSyncBits bits of zeros, which also fill the byte, and its size in kSyncBytes. So every
/// block begins with a byte, and can be written without the one before. RFC 1951, 3.2.4.
constexpr int kSyncBits = 3, kSyncBytes = 4;
constexpr std::uint8_t kSync[kSyncBytes] = {0, 0, 0xFF, 0xFF};

/// The code of a block.
struct BlockCode {
  std::uint8_t lengths[kDeflateSymbols];
  std::uint16_t codes[kDeflateSymbols];
};

/// Memory for write_block_header().
struct HeaderScratch {
  static constexpr int kLengthCodes = 19;
  std::uint16_t runs[kDeflateSymbols + kDistanceCodes];
  std::uint32_t counts[kLengthCodes];
  std::uint8_t lengths[kLengthCodes];
  std::uint16_t codes[kLengthCodes];
  LengthScratch length_scratch;
};

/// The largest number of bytes of write_block_header().
constexpr int kMaxHeaderBytes = 3 + (14 + 19 * 3 + (kDeflateSymbols + kDistanceCodes) * 14) / 8;

/// Writes the header of a block with a dynamic code. RFC 1951, 3.2.7.
ECKART_HOST_DEVICE inline void write_block_header(const BlockCode& code, bool is_last,
                                                  HeaderScratch& scratch, BitWriter& to) {
  constexpr int kRepeat = 16, kShortZeroRun = 17, kLongZeroRun = 18;
  constexpr int kLengthCodes = HeaderScratch::kLengthCodes;
  constexpr int kMaxLengthCodeBits = 7;
  constexpr std::uint8_t kOrder[kLengthCodes] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                 11, 4,  12, 3, 13, 2, 14, 1, 15};
  int symbols = kDeflateSymbols;
  while (code.lengths[symbols - 1] == 0) --symbols;  // ends at the end of block, which has a code

  // The lengths as runs: symbol, and a count behind it in the upper bits.
  std::uint16_t* const runs = scratch.runs;
  std::uint32_t* const counts = scratch.counts;
  for (int s = 0; s < kLengthCodes; ++s) counts[s] = 0;
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
        add(kLongZeroRun, (rest > 138 ? 138 : rest) - 11);
      if (rest >= 3) {
        add(kShortZeroRun, rest - 3);
        rest = 0;
      }
    } else {
      add(length, 0);
      for (--rest; rest >= 3; rest -= rest > 6 ? 6 : rest) add(kRepeat, (rest > 6 ? 6 : rest) - 3);
    }
    for (; rest > 0; --rest) add(length, 0);
  }

  std::uint8_t* const lengths = scratch.lengths;
  std::uint16_t* const codes = scratch.codes;
  choose_code_lengths(counts, kLengthCodes, kMaxLengthCodeBits, lengths, scratch.length_scratch,
                      OneThread());
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
      to.put(std::uint32_t(runs[i] >> 8), symbol == kRepeat ? 2 : symbol == kShortZeroRun ? 3 : 7);
  }
}

/// The bytes of rows in a block.
constexpr std::size_t kBlockBytes = 65536;

/// The parts of a chunk: the length of its data, its type, in the first chunk the header of the
/// zlib stream, a block, in the last chunk the Adler-32, and the CRC-32 of all but the length.
constexpr std::size_t kLengthBytes = 4, kAdlerBytes = 4, kCrcBytes = 4;
constexpr std::uint8_t kIdat[4] = {'I', 'D', 'A', 'T'};
/// Deflate with a window of 32 KB, the fastest level; a multiple of 31. RFC 1950, 2.2.
constexpr std::uint8_t kZlibHeader[2] = {0x78, 0x01};

/// A bound of the size of a chunk with a block of `bytes` bytes. A code has at most 2.03 bits more
/// than the ideal one, see choose_code_lengths(), and the ideal ones of 286 symbols have at most
/// 8.16 bits in the mean. The end of the block has at most 7 bytes.
constexpr std::size_t max_chunk_bytes(std::size_t bytes) {
  constexpr std::size_t kEndBytes = 7;
  return kLengthBytes + sizeof kIdat + sizeof kZlibHeader + std::size_t(kMaxHeaderBytes) +
         bytes * 11 / 8 + kEndBytes + kAdlerBytes + kCrcBytes;
}

}  // namespace eckart::codec::png
