#pragma once

// Reading the codes of deflate blocks in segments, for CPU and GPU. RFC 1951.

#include <cstdint>

#include "codec/png/inflate_code.hpp"
#include "codec/png/irregularity.hpp"
#include "codec/png/match.hpp"
#include "core/host_device.hpp"
#include "core/warp.hpp"

namespace eckart::codec::png {

// A block is decoded in windows, and a window in a segment by each lane.
//
// Where the first code of a segment begins is not known. So a lane guesses: it reads codes from a
// bit before the segment on. It reads wrong ones at first, but most often soon comes to a bit where
// a code begins. Where the segment before it ends tells whether it did. A segment that began at the
// wrong bit is read again. Then the sums of the segments before tell where the bytes of a segment
// go. Matches are copied last, in an order in which they find what they copy.

constexpr std::int32_t kInflateSegmentBits = 1024;
/// Before a segment, to guess its first code. More would cost more than segments that are read
/// again (docs/explanation/gpu-batch.md).
constexpr std::int32_t kInflateGuessBits = 512;
/// Of a window. A match has two bits at least, so those of a segment fit.
constexpr std::int32_t kMaxMatches = 1024;
static_assert(kInflateSegmentBits / 2 < kMaxMatches && kMaxMatches % HostWarp::kLanes == 0);

/// The words of the stream that a window may need: all its bits, a code that begins with its last
/// bit, and the bits that add to its value.
class InflateWindow {
 public:
  static constexpr int kWords = HostWarp::kLanes * kInflateSegmentBits / 32 + 3;

  /// Word i of the window.
  ECKART_HOST_DEVICE void set_word(std::int32_t i, std::uint32_t word) {
    words_[place(i)] = word;
    if (i % kRow == 0 && i > 0) words_[place(i) - 1] = word;
  }
  /// 32 bits from `bit` of the window on.
  ECKART_HOST_DEVICE std::uint32_t bits(std::int32_t bit) const {
    const std::uint32_t* const words = words_ + place(bit / 32);
#ifdef __CUDA_ARCH__
    return __funnelshift_r(words[0], words[1], unsigned(bit));
#else
    return std::uint32_t((std::uint64_t(words[1]) << 32 | words[0]) >> (bit % 32));
#endif
  }

 private:
  /// Lanes read words at a distance of a segment. On a GPU these must not be in the same bank: so
  /// there is a word more after each row, which is the first one of the next row as well.
  static constexpr std::int32_t kRow = 32;
  ECKART_HOST_DEVICE static std::int32_t place(std::int32_t i) { return i + i / kRow; }

  std::uint32_t words_[kWords + kWords / kRow + 1];
};

/// Memory of inflate(), on a GPU shared by the lanes.
struct InflateMemory {
  static constexpr int kMaxDistanceSymbols = 32;

  InflateCode literals;
  InflateCode distances;  ///< before these are known: the code of the lengths of codes
  /// Of codes: of literals, then of distances.
  std::uint8_t lengths[InflateCode::kMaxSymbols + kMaxDistanceSymbols];
  Match matches[kMaxMatches];
  InflateWindow window;
  // What one lane has read of a block.
  std::int32_t next_bit;
  bool is_last;
  std::uint32_t type;
  std::int32_t stored_bytes, literal_symbols, distance_symbols;
  Irregularity irregularity;
};

/// How read_codes() ended.
enum class CodesEnd : std::uint32_t {
  segment,  ///< at its end
  block,    ///< after the code of the end of the block
  error,    ///< at a code that does not exist
};

/// Output of read_codes() that does nothing. It goes on after errors and ends of blocks, because it
/// may have begun at a bit where no code begins.
struct CodeSkipper {
  static constexpr bool kIsGuess = true;
  ECKART_HOST_DEVICE void write_literal_if(bool /*is_literal*/, int /*value*/) {}
  ECKART_HOST_DEVICE void write_match_if(bool /*is_match*/, int /*length*/, int /*distance*/) {}
};

/// Output of read_codes() that adds up.
struct CodeCounter {
  static constexpr bool kIsGuess = false;
  std::int32_t bytes = 0, matches = 0;
  ECKART_HOST_DEVICE void write_literal_if(bool is_literal, int /*value*/) {
    bytes += is_literal ? 1 : 0;
  }
  ECKART_HOST_DEVICE void write_match_if(bool is_match, int length, int /*distance*/) {
    bytes += is_match ? length : 0;
    matches += is_match ? 1 : 0;
  }
};

/// Output of read_codes() that writes literals, and lists matches.
struct CodeWriter {
  static constexpr bool kIsGuess = false;
  std::uint8_t* bytes;
  std::int32_t to;
  Match* next_match;
  ECKART_HOST_DEVICE void write_literal_if(bool is_literal, int value) {
    if (is_literal) bytes[to] = std::uint8_t(value);
    to += is_literal ? 1 : 0;
  }
  ECKART_HOST_DEVICE void write_match_if(bool is_match, int length, int distance) {
    if (is_match) *next_match = {to, std::uint16_t(length), std::uint16_t(distance)};
    to += is_match ? length : 0;
    next_match += is_match ? 1 : 0;
  }
};

/// Reads codes from `at`, a bit of the window, to the first that begins at `end_bit` or later, and
/// sets `at` to it; or ends earlier.
///
/// Each step takes one code with the bits that add to its value. Steps are the same for literals,
/// lengths and distances, because the lanes wait for each other.
template <typename Output>
ECKART_HOST_DEVICE CodesEnd read_codes(const InflateMemory& memory, std::int32_t end_bit,
                                       std::int32_t& at, Output& output) {
  std::int32_t bit = at;
  int length = 0;  // of a match whose distance is next; otherwise 0
  while (length != 0 || bit < end_bit) {
    const std::uint32_t next = memory.window.bits(bit);
    const InflateCode& code = length != 0 ? memory.distances : memory.literals;
    const CodeEntry entry = code.find(next);
    const CodeKind kind = entry.kind();
    if (!Output::kIsGuess && !entry.exists()) return CodesEnd::error;
    const int value = entry.value_with(next >> entry.bits());
    output.write_literal_if(kind == CodeKind::literal, value);
    output.write_match_if(kind == CodeKind::distance, length, value);
    length = kind == CodeKind::length ? value : 0;
    bit += entry.exists() ? entry.bits() + entry.extra_bits() : 1;
    if (!Output::kIsGuess && kind == CodeKind::end_of_block) {
      at = bit;
      return CodesEnd::block;
    }
  }
  at = bit;
  return CodesEnd::segment;
}

}  // namespace eckart::codec::png
