#pragma once

// Inflating the rows of a PNG by the threads of a warp, for CPU and GPU. RFC 1950 and 1951.

#include <cstdint>
#include <cstring>

#include "codec/png/checksums.hpp"
#include "codec/png/filter.hpp"
#include "codec/png/inflate_code.hpp"
#include "codec/png/inflate_segment.hpp"
#include "codec/png/irregularity.hpp"
#include "codec/png/match.hpp"
#include "core/host_device.hpp"

namespace eckart::codec::png {

/// The rows of an image, each behind its filter byte.
struct InflatedRows {
  std::uint8_t* bytes;  ///< begin at a multiple of 4
  std::int32_t rows;
  std::int32_t row_bytes;  ///< with the filter byte

  ECKART_HOST_DEVICE std::int64_t size() const { return std::int64_t(rows) * row_bytes; }
};
/// So that positions fit into 32 bits, and the sums of Adler-32 into 64.
constexpr std::int64_t kMaxInflatedBytes = 1 << 28;

/// The 4 bytes from a multiple of 4 on, the first in the lowest bits.
ECKART_HOST_DEVICE inline std::uint32_t word_at(const std::uint8_t* bytes) {
#ifdef __CUDA_ARCH__
  return *reinterpret_cast<const std::uint32_t*>(bytes);
#else
  std::uint32_t word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
#endif
}

/// The position of the lowest bit that is set. Requires x > 0.
ECKART_HOST_DEVICE inline int lowest_bit(std::uint32_t x) { return highest_bit(x & (0 - x)); }

/// How often segments may be read, and codes built, which counts twice: a multiple of what encoders
/// cause, so that no stream takes much longer than others of its size. A photograph uses a
/// twentieth of it.
ECKART_HOST_DEVICE inline std::int32_t max_inflate_work(std::int32_t stream_bytes) {
  return 64 + stream_bytes / 128;
}

/// Inflates with the lanes of a warp. See inflate().
template <class Warp>
class Inflater {
 public:
  ECKART_HOST_DEVICE Inflater(Warp& warp, const InflateInput& input, const InflatedRows& rows,
                              InflateMemory& memory)
      : warp_(warp),
        input_(input),
        rows_(rows),
        memory_(memory),
        end_bit_(8 * input.bytes),
        work_left_(max_inflate_work(input.bytes)) {}

  ECKART_HOST_DEVICE Irregularity run() {
    if (!has_valid_header()) return Irregularity::header;
    for (;;) {
      constexpr std::int32_t kBlockWork = 2;
      work_left_ -= kBlockWork;
      if (work_left_ < 0) return Irregularity::work;
      warp_.once([&] { read_block_header(); });
      if (memory_.irregularity != Irregularity::none) return memory_.irregularity;
      const bool is_last = memory_.is_last;
      const Irregularity found = memory_.type == kStored ? copy_stored() : decode_block();
      if (found != Irregularity::none) return found;
      if (is_last) return check_end();
    }
  }

 private:
  template <class T>
  using PerLane = typename Warp::template PerLane<T>;

  static constexpr std::uint32_t kStored = 0, kFixed = 1, kDynamic = 2, kNoType = 3;

  /// RFC 1950, 2.2.
  ECKART_HOST_DEVICE bool has_valid_header() const {
    constexpr int kDeflate = 8, kMaxWindow = 7, kDictionary = 32;
    constexpr std::int32_t kMinBytes = 6;  // header and checksum
    if (input_.bytes < kMinBytes) return false;
    const auto method = int(input_.words[0] & 255), flags = int(input_.words[0] >> 8 & 255);
    return (method & 15) == kDeflate && method >> 4 <= kMaxWindow && (flags & kDictionary) == 0 &&
           (method * 256 + flags) % 31 == 0;
  }

  /// By one lane. Sets what `memory_` has of a block.
  ECKART_HOST_DEVICE void read_block_header() {
    BitReader reader(input_, bit_);
    memory_.irregularity = Irregularity::none;
    memory_.is_last = reader.take(1) != 0;
    memory_.type = reader.take(2);
    if (memory_.type == kNoType) memory_.irregularity = Irregularity::block;
    if (memory_.type == kStored) read_stored_size(reader);
    if (memory_.type == kDynamic) read_length_code(reader);
    memory_.next_bit = reader.bits_read();
    if (memory_.next_bit > end_bit_) memory_.irregularity = Irregularity::data_ended;
  }

  /// RFC 1951, 3.2.4.
  ECKART_HOST_DEVICE void read_stored_size(BitReader& reader) {
    reader.skip(int(-std::uint32_t(reader.bits_read()) & 7));
    const std::uint32_t size = reader.take(16);
    if ((reader.take(16) ^ size) != 0xFFFF) memory_.irregularity = Irregularity::block;
    memory_.stored_bytes = std::int32_t(size);
  }

  /// The lengths of the codes of the lengths of codes. RFC 1951, 3.2.7.
  ECKART_HOST_DEVICE void read_length_code(BitReader& reader) {
    memory_.literal_symbols = std::int32_t(257 + reader.take(5));
    memory_.distance_symbols = std::int32_t(1 + reader.take(5));
    if (memory_.literal_symbols > kDeflateSymbols)
      memory_.irregularity = Irregularity::code_lengths;
    const auto stored = int(4 + reader.take(4));
    for (int i = 0; i < kLengthSymbols; ++i)
      memory_.lengths[length_symbol_at(i)] = std::uint8_t(i < stored ? reader.take(3) : 0);
  }

  ECKART_HOST_DEVICE Irregularity copy_stored() {
    const std::int32_t size = memory_.stored_bytes, from = memory_.next_bit / 8;
    if (size > input_.bytes - from) return Irregularity::data_ended;
    if (size > rows_.size() - written_) return Irregularity::too_long;
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(input_.words) + from;
    warp_.each([&](int lane) {
      for (std::int32_t i = lane; i < size; i += Warp::kLanes) rows_.bytes[written_ + i] = bytes[i];
    });
    written_ += size;
    bit_ = 8 * (from + size);
    return Irregularity::none;
  }

  ECKART_HOST_DEVICE Irregularity decode_block() {
    const bool is_built = memory_.type == kFixed ? build_fixed_codes() : build_dynamic_codes();
    if (!is_built) {
      return memory_.irregularity == Irregularity::none ? Irregularity::code_lengths
                                                        : memory_.irregularity;
    }
    bit_ = memory_.next_bit;
    for (;;) {
      bool is_end = false;
      const Irregularity found = decode_window(is_end);
      if (found != Irregularity::none || is_end) return found;
    }
  }

  ECKART_HOST_DEVICE bool build_fixed_codes() {
    constexpr std::uint8_t kFixedDistanceBits = 5;
    warp_.each([&](int lane) {
      for (int s = lane; s < InflateCode::kMaxSymbols; s += Warp::kLanes)
        memory_.lengths[s] = std::uint8_t(fixed_literal_bits(s));
      for (int s = lane; s < InflateMemory::kMaxDistanceSymbols; s += Warp::kLanes)
        memory_.lengths[InflateCode::kMaxSymbols + s] = kFixedDistanceBits;
    });
    return build_codes(InflateCode::kMaxSymbols, InflateMemory::kMaxDistanceSymbols);
  }
  ECKART_HOST_DEVICE bool build_dynamic_codes() {
    InflateCode& code = memory_.distances;
    if (!build_code<LengthSymbols>(warp_, memory_.lengths, kLengthSymbols, false, code))
      return false;
    const int literals = memory_.literal_symbols, distances = memory_.distance_symbols;
    warp_.once([&] { read_lengths(code, literals + distances); });
    return memory_.irregularity == Irregularity::none && build_codes(literals, distances);
  }
  ECKART_HOST_DEVICE bool build_codes(int literals, int distances) {
    return build_code<LiteralSymbols>(warp_, memory_.lengths, literals, false, memory_.literals) &&
           build_code<DistanceSymbols>(warp_, memory_.lengths + literals, distances, true,
                                       memory_.distances);
  }

  /// By one lane: the lengths of the codes of literals, then of distances.
  ECKART_HOST_DEVICE void read_lengths(const InflateCode& code, int count) {
    constexpr int kRepeat = 16, kShortZeroRun = 17;
    BitReader reader(input_, memory_.next_bit);
    int length = 0;
    for (int i = 0; i < count;) {
      reader.refill();
      const CodeEntry entry = code.find(reader.peek(kMaxCodeBits));
      reader.skip(entry.bits());
      const int symbol = entry.value();
      int repeats = 1;
      if (symbol < kRepeat) {
        length = symbol;
      } else if (symbol == kRepeat) {
        repeats = int(3 + reader.take(2));
        if (i == 0) memory_.irregularity = Irregularity::code_lengths;
      } else {
        repeats = int(symbol == kShortZeroRun ? 3 + reader.take(3) : 11 + reader.take(7));
        length = 0;
      }
      if (repeats > count - i) {
        memory_.irregularity = Irregularity::code_lengths;
        repeats = count - i;
      }
      for (; repeats > 0; --repeats) memory_.lengths[i++] = std::uint8_t(length);
    }
    memory_.next_bit = reader.bits_read();
    if (memory_.next_bit > end_bit_) memory_.irregularity = Irregularity::data_ended;
  }

  /// Decodes from `bit_` on, at most a segment by each lane, and moves `bit_` behind.
  ECKART_HOST_DEVICE Irregularity decode_window(bool& is_end) {
    if (work_left_ < 0) return Irregularity::work;
    read_window();
    read_segments();
    const int confirmed = confirm_segments();
    const PerLane<std::int32_t> bytes_before = warp_.sums_before(bytes_);
    const PerLane<std::int32_t> matches_before = warp_.sums_before(matches_);
    // The segments whose matches fit into memory: the first one always does.
    PerLane<bool> is_left_out;
    warp_.each([&](int lane) {
      is_left_out[lane] = lane >= confirmed || matches_before[lane] + matches_[lane] > kMaxMatches;
    });
    const std::uint32_t left_out = warp_.ballot(is_left_out);
    const int taken = left_out == 0 ? Warp::kLanes : lowest_bit(left_out), last = taken - 1;
    const CodesEnd end = warp_.value_of(end_, last);
    const std::int32_t next = bit_ / 32 * 32 + warp_.value_of(next_, last);
    const std::int32_t bytes = warp_.value_of(bytes_before, last) + warp_.value_of(bytes_, last);
    if (end == CodesEnd::error) return Irregularity::code;
    if (next > end_bit_) return Irregularity::data_ended;
    if (bytes > rows_.size() - written_) return Irregularity::too_long;
    warp_.each([&](int lane) {
      if (lane >= taken) return;
      CodeWriter writer{rows_.bytes, written_ + bytes_before[lane],
                        memory_.matches + matches_before[lane]};
      std::int32_t at = first_[lane];
      read_codes(memory_, segment_begin(lane + 1), at, writer);
    });
    if (!copy_matches(warp_.value_of(matches_before, last) + warp_.value_of(matches_, last)))
      return Irregularity::distance;
    written_ += bytes;
    bit_ = next;
    is_end = end == CodesEnd::block;
    return Irregularity::none;
  }

  ECKART_HOST_DEVICE std::int32_t segment_begin(int lane) const {
    return bit_ % 32 + lane * kInflateSegmentBits;
  }

  /// Reads several words before it writes them, because each read takes long.
  ECKART_HOST_DEVICE void read_window() {
    constexpr int kReads = 8;
    const std::int32_t first = bit_ / 32;
    warp_.each([&](int lane) {
      for (std::int32_t i = lane; i < InflateWindow::kWords; i += kReads * Warp::kLanes) {
        std::uint32_t words[kReads];
        for (int r = 0; r < kReads; ++r) words[r] = input_.word(first + i + r * Warp::kLanes);
        for (int r = 0; r < kReads; ++r) {
          const std::int32_t place = i + r * Warp::kLanes;
          if (place < InflateWindow::kWords) memory_.window.set_word(place, words[r]);
        }
      }
    });
  }

  ECKART_HOST_DEVICE void read_segments() {
    warp_.each([&](int lane) {
      const std::int32_t window = segment_begin(0), begin = segment_begin(lane);
      first_[lane] = begin - window > kInflateGuessBits ? begin - kInflateGuessBits : window;
      CodeSkipper skipper;
      read_codes(memory_, begin, first_[lane], skipper);
      add_up(lane);
    });
  }

  /// Adds up the codes of a segment, from `first_` on.
  ECKART_HOST_DEVICE void add_up(int lane) {
    CodeCounter counter;
    next_[lane] = first_[lane];
    end_[lane] = read_codes(memory_, segment_begin(lane + 1), next_[lane], counter);
    bytes_[lane] = counter.bytes;
    matches_[lane] = counter.matches;
  }

  /// Reads segments again until the first ones, up to the end of the block if it is in the window,
  /// begin where those before them end. Returns their number.
  ECKART_HOST_DEVICE int confirm_segments() {
    for (;;) {  // with each pass, one segment more at least is right
      --work_left_;
      const PerLane<std::int32_t> begin = warp_.before(next_);
      const PerLane<CodesEnd> end_before = warp_.before(end_);
      PerLane<bool> is_wrong;
      warp_.each([&](int lane) {
        is_wrong[lane] =
            lane > 0 && (end_before[lane] != CodesEnd::segment || first_[lane] != begin[lane]);
      });
      const std::uint32_t wrong = warp_.ballot(is_wrong);
      if (wrong == 0) return Warp::kLanes;
      const int confirmed = lowest_bit(wrong);
      if (warp_.value_of(end_, confirmed - 1) != CodesEnd::segment) return confirmed;
      warp_.each([&](int lane) {
        if (!is_wrong[lane] || end_before[lane] != CodesEnd::segment) return;
        first_[lane] = begin[lane];
        add_up(lane);
      });
    }
  }

  /// Copies the first `count` matches. Returns false if one begins before the first byte.
  ECKART_HOST_DEVICE bool copy_matches(std::int32_t count) {
    for (std::int32_t first = 0; first < count; first += Warp::kLanes) {
      const Match* const matches = memory_.matches + first;
      const std::int32_t lanes = count - first < Warp::kLanes ? count - first : Warp::kLanes;
      PerLane<bool> is_too_far;
      warp_.each([&](int lane) {
        is_too_far[lane] = lane < lanes && matches[lane].distance > matches[lane].to;
      });
      if (warp_.ballot(is_too_far) != 0) return false;
      copy_matches(matches, lanes);
    }
    return true;
  }

  /// Of up to kLanes matches, first those whose source is complete, a match by each lane. The first
  /// match always is one of these. All lanes copy it if it is the only one.
  ECKART_HOST_DEVICE void copy_matches(const Match* matches, std::int32_t count) {
    std::uint32_t left = 0xFFFFFFFF >> (Warp::kLanes - count);
    while (left != 0) {
      const int first = lowest_bit(left);
      const std::int32_t complete = matches[first].to;
      PerLane<bool> is_ready;
      warp_.each([&](int lane) {
        const Match& match = matches[lane];
        is_ready[lane] = (left >> lane & 1) != 0 && match.source_end() <= complete;
      });
      const std::uint32_t ready = warp_.ballot(is_ready);
      const bool is_one = ready == std::uint32_t(1) << first;
      warp_.each([&](int lane) {
        if (is_one) {
          copy_match(matches[first], rows_.bytes, lane, Warp::kLanes);
        } else if (is_ready[lane]) {
          copy_match(matches[lane], rows_.bytes);
        }
      });
      left &= ~ready;
    }
  }

  /// After the last block. RFC 1950, 2.2.
  ECKART_HOST_DEVICE Irregularity check_end() {
    constexpr std::int32_t kChecksumBytes = 4;
    const std::int32_t left = input_.bytes - (bit_ + 7) / 8;
    if (left < kChecksumBytes) return Irregularity::data_ended;
    if (left > kChecksumBytes) return Irregularity::data_left;
    if (written_ < rows_.size()) return Irregularity::too_short;
    std::uint32_t checksum = 0;
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(input_.words) + input_.bytes;
    for (std::int32_t i = -kChecksumBytes; i < 0; ++i) checksum = checksum << 8 | bytes[i];
    if (adler() != checksum) return Irregularity::checksum;
    PerLane<bool> is_invalid;
    warp_.each([&](int lane) {
      is_invalid[lane] = false;
      for (std::int32_t row = lane; row < rows_.rows; row += Warp::kLanes)
        is_invalid[lane] |=
            rows_.bytes[std::int64_t(row) * rows_.row_bytes] > std::uint8_t(Filter::paeth);
    });
    return warp_.ballot(is_invalid) == 0 ? Irregularity::none : Irregularity::filter;
  }

  ECKART_HOST_DEVICE std::uint32_t adler() {
    constexpr std::int32_t kWordBytes = 4;
    const std::int32_t words = written_ / kWordBytes;
    PerLane<std::uint64_t> sum, weighted;
    warp_.each([&](int lane) {
      std::uint64_t all = 0, all_weighted = 0;
      const auto add = [&](std::uint32_t byte, std::int32_t i) {
        all += byte;
        all_weighted += std::uint64_t(byte) * std::uint32_t(written_ - i);
      };
#ifdef __CUDA_ARCH__
#pragma unroll 8
#endif
      for (std::int32_t w = lane; w < words; w += Warp::kLanes) {
        const std::uint32_t word = word_at(rows_.bytes + std::int64_t(kWordBytes) * w);
        for (std::int32_t i = 0; i < kWordBytes; ++i)
          add(word >> (8 * i) & 255, kWordBytes * w + i);
      }
      for (std::int32_t i = kWordBytes * words + lane; i < written_; i += Warp::kLanes)
        add(rows_.bytes[i], i);
      sum[lane] = all;
      weighted[lane] = all_weighted;
    });
    return AdlerSums{std::uint64_t(written_), total(sum), total(weighted)}.checksum();
  }
  ECKART_HOST_DEVICE std::uint64_t total(const PerLane<std::uint64_t>& values) {
    constexpr int kLast = Warp::kLanes - 1;
    return warp_.value_of(warp_.sums_before(values), kLast) + warp_.value_of(values, kLast);
  }

  Warp& warp_;
  const InflateInput input_;
  const InflatedRows rows_;
  InflateMemory& memory_;
  const std::int32_t end_bit_;             // of the input
  std::int32_t work_left_;                 // see max_inflate_work()
  std::int32_t bit_ = 16;                  // of the next code or block: after the header
  std::int32_t written_ = 0;               // bytes
  PerLane<std::int32_t> first_;            // bit of the first code of a segment,
  PerLane<std::int32_t> next_;             // and after its last
  PerLane<CodesEnd> end_;                  // of a segment
  PerLane<std::int32_t> bytes_, matches_;  // of a segment
};

/// Inflates a zlib stream into the rows of an image. Returns `none` only for a stream that
/// libdeflate accepts, with the same rows, whose filters all exist. It must have at most
/// kMaxInflateBytes, and the rows kMaxInflatedBytes. The result does not depend on `warp`.
template <class Warp>
ECKART_HOST_DEVICE Irregularity inflate(Warp& warp, const InflateInput& input,
                                        const InflatedRows& rows, InflateMemory& memory) {
  return Inflater<Warp>(warp, input, rows, memory).run();
}

}  // namespace eckart::codec::png
