#pragma once

// Decoding of the prefix codes of deflate blocks, RFC 1951, for CPU and GPU.

#include <cstdint>

#include "codec/png/deflate_code.hpp"
#include "core/host_device.hpp"

namespace eckart::codec::png {

constexpr int kLengthSymbols = 19;  ///< of the code of the lengths of codes

/// A zlib stream.
struct InflateInput {
  const std::uint32_t* words;  ///< of 4 bytes in the order of the stream
  std::int32_t bytes;          ///< at most kMaxInflateBytes; zeros follow up to a whole word

  /// Zeros after the end.
  ECKART_HOST_DEVICE std::uint32_t word(std::int32_t i) const {
    return i < (bytes + 3) / 4 ? words[i] : 0;
  }
};
/// So that the numbers of bits fit into 32 bits.
constexpr std::int32_t kMaxInflateBytes = 1 << 27;

/// Reads bits, the first in the lowest position. After the end of the stream it gives zeros, and
/// counts on.
class BitReader {
 public:
  ECKART_HOST_DEVICE BitReader(const InflateInput& input, std::int32_t first_bit)
      : input_(input), taken_(first_bit / 32), next_(input.word(taken_)) {
    refill();
    skip(first_bit % 32);
  }

  /// Makes at least 33 bits available.
  ECKART_HOST_DEVICE void refill() {
    if (available_ > 32) return;
    bits_ |= std::uint64_t(next_) << available_;
    available_ += 32;
    next_ = input_.word(++taken_);  // needed only at the next refill: its latency is hidden
  }
  /// Up to 31 bits.
  ECKART_HOST_DEVICE std::uint32_t peek(int bits) const {
    return std::uint32_t(bits_) & ((1U << bits) - 1);
  }
  ECKART_HOST_DEVICE void skip(int bits) {
    bits_ >>= bits;
    available_ -= bits;
  }
  /// Refills, and takes up to 31 bits.
  ECKART_HOST_DEVICE std::uint32_t take(int bits) {
    refill();
    const std::uint32_t value = peek(bits);
    skip(bits);
    return value;
  }
  ECKART_HOST_DEVICE std::int32_t bits_read() const { return taken_ * 32 - available_; }

 private:
  const InflateInput& input_;
  std::int32_t taken_;
  int available_ = 0;
  std::uint64_t bits_ = 0;
  std::uint32_t next_;
};

constexpr int kDistanceSymbols = 30;

/// The symbol of the code length that is stored at this position. RFC 1951, 3.2.7.
ECKART_HOST_DEVICE inline int length_symbol_at(int position) {
  // 16 17 18 0 8 7 9 6 10 5 11 4 12 3 13 2 14 1 15
  if (position < 3) return 16 + position;
  if (position == 3) return 0;
  const int distance = (position - 3) / 2;  // from 8
  return position % 2 == 0 ? 8 + distance : 8 - distance;
}

/// RFC 1951, 3.2.6.
ECKART_HOST_DEVICE inline int fixed_literal_bits(int symbol) {
  return symbol < 144 ? 8 : symbol < 256 ? 9 : symbol < 280 ? 7 : 8;
}

/// The least length or distance of a symbol, and the number of the bits that add to it. RFC 1951,
/// 3.2.5.
struct MatchBase {
  int base, extra_bits;
};
/// Requires kEndOfBlock < symbol < kDeflateSymbols.
ECKART_HOST_DEVICE inline MatchBase length_base(int symbol) {
  if (symbol < 265) return {symbol - 254, 0};
  if (symbol == kDeflateSymbols - 1) return {kMaxMatch, 0};
  const int extra_bits = (symbol - 261) >> 2;
  return {kMinMatch + ((4 + ((symbol - 261) & 3)) << extra_bits), extra_bits};
}
/// Requires symbol < kDistanceSymbols.
ECKART_HOST_DEVICE inline MatchBase distance_base(int symbol) {
  if (symbol < 4) return {symbol + 1, 0};
  const int extra_bits = (symbol >> 1) - 1;
  return {1 + ((2 + (symbol & 1)) << extra_bits), extra_bits};
}

ECKART_HOST_DEVICE inline int count_bits(std::uint32_t x) {
#ifdef __CUDA_ARCH__
  return __popc(x);
#else
  return __builtin_popcount(x);
#endif
}

/// What a symbol stands for. Nothing has the kind 0, so that a symbol that is not used is 0.
enum class CodeKind : std::uint32_t { literal = 1, length, end_of_block, distance };

/// A symbol, and with it the number of the bits of its code: 4 bits for that, 4 for the number of
/// the bits that add to its value, 3 for its kind, then its value.
struct CodeEntry {
  std::uint32_t packed = 0;

  ECKART_HOST_DEVICE static CodeEntry make(CodeKind kind, const MatchBase& value) {
    return {std::uint32_t(value.base) << 11 | std::uint32_t(kind) << 8 |
            std::uint32_t(value.extra_bits) << 4};
  }
  ECKART_HOST_DEVICE CodeEntry with_bits(int bits) const {
    return {packed == 0 ? 0 : packed | std::uint32_t(bits)};
  }
  ECKART_HOST_DEVICE bool exists() const { return packed != 0; }
  ECKART_HOST_DEVICE int bits() const { return int(packed & 15); }
  ECKART_HOST_DEVICE int extra_bits() const { return int(packed >> 4 & 15); }
  ECKART_HOST_DEVICE CodeKind kind() const { return CodeKind(packed >> 8 & 7); }
  ECKART_HOST_DEVICE int value() const { return int(packed >> 11); }
  /// With the bits that follow the code.
  ECKART_HOST_DEVICE int value_with(std::uint32_t next) const {
    return value() + int(next & ((1U << extra_bits()) - 1));
  }
};

/// Of the code of literals and lengths. The symbols 286 and 287 do not exist.
struct LiteralSymbols {
  ECKART_HOST_DEVICE static CodeEntry entry(int symbol) {
    if (symbol < kEndOfBlock) return CodeEntry::make(CodeKind::literal, {symbol, 0});
    if (symbol == kEndOfBlock) return CodeEntry::make(CodeKind::end_of_block, {0, 0});
    if (symbol >= kDeflateSymbols) return {};
    return CodeEntry::make(CodeKind::length, length_base(symbol));
  }
};
/// Of the code of distances. The symbols 30 and 31 do not exist.
struct DistanceSymbols {
  ECKART_HOST_DEVICE static CodeEntry entry(int symbol) {
    if (symbol >= kDistanceSymbols) return {};
    return CodeEntry::make(CodeKind::distance, distance_base(symbol));
  }
};
/// Of the code of the lengths of codes.
struct LengthSymbols {
  ECKART_HOST_DEVICE static CodeEntry entry(int symbol) {
    return CodeEntry::make(CodeKind::literal, {symbol, 0});
  }
};

/// Decodes a prefix code.
struct InflateCode {
  static constexpr int kMaxSymbols = 288;
  static constexpr int kLookupBits = 10;

  CodeEntry lookup[1 << kLookupBits];  ///< of the code that the next bits begin with
  CodeEntry entries[kMaxSymbols];      ///< in the order of the codes, without their bits
  /// Of codes with so many bits: the first after them, with zeros up to kMaxCodeBits.
  std::uint16_t end[kMaxCodeBits + 1];
  std::int16_t offset[kMaxCodeBits + 1];  ///< a code and this are the index of its entry

  /// The code that the next kMaxCodeBits bits begin with.
  ECKART_HOST_DEVICE CodeEntry find(std::uint32_t next) const {
    const CodeEntry found = lookup[next & ((1U << kLookupBits) - 1)];
    return found.exists() ? found : search<kLookupBits + 1, kMaxCodeBits>(next);
  }
  /// As find(), but only codes with `kFrom` to `kTo` bits.
  template <int kFrom, int kTo>
  ECKART_HOST_DEVICE CodeEntry search(std::uint32_t next) const {
    const std::uint32_t code = reverse_bits(next & ((1U << kMaxCodeBits) - 1), kMaxCodeBits);
    if (code >= end[kTo] || (kFrom > 1 && code < end[kFrom - 1])) return {};
    int bits = kFrom;
    for (int shorter = kFrom; shorter < kTo; ++shorter) bits += code >= end[shorter] ? 1 : 0;
    return entries[std::int32_t(code >> (kMaxCodeBits - bits)) + offset[bits]].with_bits(bits);
  }
};

/// Builds a code from the lengths of the codes of its symbols; 0 if a symbol has none. Returns
/// false if the code is not complete. As an exception, one code of one bit may be the only one, or
/// none, if `may_be_incomplete`. RFC 1951, 3.2.2 and 3.2.7.
template <class Symbols, class Warp>
ECKART_HOST_DEVICE bool build_code(Warp& warp, const std::uint8_t* lengths, int symbols,
                                   bool may_be_incomplete, InflateCode& code) {
  using Flags = typename Warp::template PerLane<bool>;
  // visit(bits, the lanes with symbols whose codes have so many bits, the first lane's symbol)
  const auto for_each = [&](const auto& visit) {
    for (int first = 0; first < symbols; first += Warp::kLanes) {
      for (int bits = 1; bits <= kMaxCodeBits; ++bits) {
        Flags has_bits;
        warp.each([&](int lane) {
          has_bits[lane] = first + lane < symbols && lengths[first + lane] == bits;
        });
        if (const std::uint32_t lanes = warp.ballot(has_bits); lanes != 0)
          visit(bits, lanes, first);
      }
    }
  };
  std::int32_t counts[kMaxCodeBits + 1]{};
  for_each(
      [&](int bits, std::uint32_t lanes, int /*first*/) { counts[bits] += count_bits(lanes); });
  std::int32_t end = 0, used = 0, next[kMaxCodeBits + 1];
  for (int bits = 1; bits <= kMaxCodeBits; ++bits) {
    const int shift = kMaxCodeBits - bits;
    const std::int32_t first = end;
    next[bits] = used;
    end += counts[bits] << shift;
    used += counts[bits];
    warp.once([&] {
      code.end[bits] = std::uint16_t(end);
      code.offset[bits] = std::int16_t(next[bits] - (first >> shift));
    });
  }
  const bool is_one_or_none = used == 0 || (used == 1 && counts[1] == 1);
  if (end != 1 << kMaxCodeBits && !(may_be_incomplete && is_one_or_none)) return false;
  for_each([&](int bits, std::uint32_t lanes, int first) {
    warp.each([&](int lane) {
      if ((lanes >> lane & 1) == 0) return;
      const std::uint32_t before = lanes & ((std::uint32_t(1) << lane) - 1);
      code.entries[next[bits] + count_bits(before)] = Symbols::entry(first + lane);
    });
    next[bits] += count_bits(lanes);
  });
  warp.each([&](int lane) {
    constexpr int kBits = InflateCode::kLookupBits;
    for (int i = lane; i < 1 << kBits; i += Warp::kLanes)
      code.lookup[i] = code.search<1, kBits>(std::uint32_t(i));
  });
  return true;
}

}  // namespace eckart::codec::png
