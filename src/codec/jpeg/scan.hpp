#pragma once

#include <array>
#include <cstdint>

#include "codec/jpeg/irregularity.hpp"
#include "codec/jpeg/tables.hpp"
#include "core/host_device.hpp"

namespace eckart::codec::jpeg {

/// The entropy-coded data of one image, without stuffed zeros: see unstuff().
struct ScanData {
  const std::uint32_t* words;  ///< of 4 bytes in the order of the file; the last may be incomplete
  std::int32_t bytes;
};

/// Reads bits, the first in the highest position. After the end of the data it gives zeros, and
/// counts on.
class BitReader {
 public:
  ECKART_HOST_DEVICE BitReader(const ScanData& data, std::int64_t first_bit)
      : words_(data.words),
        count_((data.bytes + 3) / 4),
        taken_(std::int32_t(first_bit / 32)),
        next_(load(taken_)) {
    refill();
    skip(int(first_bit % 32));
  }

  /// Makes at least 33 bits available.
  ECKART_HOST_DEVICE void refill() {
    if (available_ > 32) return;
    bits_ |= std::uint64_t(next_) << (32 - available_);
    available_ += 32;
    next_ = load(++taken_);  // needed only at the next refill: its latency is hidden
  }
  ECKART_HOST_DEVICE std::uint32_t peek(int bits) const {
    return std::uint32_t(bits_ >> (64 - bits));
  }
  ECKART_HOST_DEVICE void skip(int bits) {
    bits_ <<= bits;
    available_ -= bits;
  }
  /// The value of `bits` bits, 0 to 15, that follow the next `code_bits`: a leading 0 means that it
  /// is negative. ITU-T T.81, figure F.12.
  ECKART_HOST_DEVICE std::int32_t peek_value(int code_bits, int bits) const {
    const std::uint64_t rest = bits_ << code_bits;
    const auto value = std::int32_t((rest >> 1) >> (63 - bits));
    const bool is_negative = (rest >> 63) == 0;
    return is_negative ? value - (1 << bits) + 1 : value;
  }
  ECKART_HOST_DEVICE std::int64_t bits_read() const {
    return std::int64_t(taken_) * 32 - available_;
  }

 private:
  ECKART_HOST_DEVICE std::uint32_t load(std::int32_t i) const {
    if (i >= count_) return 0;
#ifdef __CUDA_ARCH__
    return __byte_perm(words_[i], 0, 0x0123);
#else
    return __builtin_bswap32(words_[i]);
#endif
  }

  const std::uint32_t* words_;
  std::int32_t count_;
  std::int32_t taken_;
  int available_ = 0;
  std::uint64_t bits_ = 0;
  std::uint32_t next_;
};

/// Finds a code of more than kLookupBits bits. Returns its code_entry(), or 0 if there is no such
/// code.
ECKART_HOST_DEVICE inline std::uint32_t find_long_code(const HuffmanTable& table,
                                                       std::uint32_t next_16_bits) {
  for (int bits = HuffmanTable::kLookupBits + 1; bits <= HuffmanTable::kMaxCodeBits; ++bits) {
    const int slow = bits - HuffmanTable::kLookupBits - 1;
    if (next_16_bits >= table.end[slow]) continue;
    const auto code = std::int32_t(next_16_bits >> (HuffmanTable::kMaxCodeBits - bits));
    return code_entry(bits, table.values[(code + table.offset[slow]) & 0xFF]);
  }
  return 0;
}

/// Where a code begins.
struct CodePosition {
  std::int64_t bit = 0;
  std::int32_t in_mcu = 0;  ///< block in its MCU
  std::int32_t k = 0;       ///< coefficient in zigzag order
  ECKART_HOST_DEVICE bool operator==(const CodePosition& other) const {
    return bit == other.bit && in_mcu == other.in_mcu && k == other.k;
  }
};

/// What codes add up to. Sums of data that are not valid may wrap.
struct CodeSums {
  std::int64_t blocks = 0;              ///< that end
  std::uint32_t y = 0, cb = 0, cr = 0;  ///< differences of DC coefficients
  /// The DC coefficient of a channel, counted from 0.
  ECKART_HOST_DEVICE std::uint32_t& dc(std::int32_t channel) {
    return channel == 0 ? y : channel == 1 ? cb : cr;
  }
  ECKART_HOST_DEVICE void operator+=(const CodeSums& other) {
    blocks += other.blocks;
    y += other.y;
    cb += other.cb;
    cr += other.cr;
  }
};

/// Output of read_codes() that only adds up. It goes on after irregular data, because it may have
/// begun at a bit where no code begins.
struct CodeCounter {
  static constexpr bool kStopsIfIrregular = false;
  CodeSums sums;

  ECKART_HOST_DEVICE bool is_full() const { return false; }
  ECKART_HOST_DEVICE bool write_dc(std::int32_t channel, std::int32_t difference) {
    sums.dc(channel) += std::uint32_t(difference);
    return true;
  }
  ECKART_HOST_DEVICE void write_ac(std::int32_t /*k*/, std::int32_t /*value*/) {}
  ECKART_HOST_DEVICE void end_block() { ++sums.blocks; }
};

/// Output of read_codes() that writes coefficients.
struct CoefficientWriter {
  static constexpr bool kStopsIfIrregular = true;
  CodeSums sums;               ///< of all codes before
  std::int64_t blocks;         ///< of the image
  const std::uint8_t* order;   ///< Tables::order
  std::int16_t* coefficients;  ///< of the next block

  ECKART_HOST_DEVICE bool is_full() const { return sums.blocks >= blocks; }
  /// Returns false if libjpeg-turbo's versions may differ.
  ECKART_HOST_DEVICE bool write_dc(std::int32_t channel, std::int32_t difference) {
    constexpr std::int32_t kMaxValue = 32767;
    const auto value = std::int32_t(sums.dc(channel) += std::uint32_t(difference));
    coefficients[0] = std::int16_t(value);
    return value <= kMaxValue && value >= -kMaxValue;
  }
  ECKART_HOST_DEVICE void write_ac(std::int32_t k, std::int32_t value) {
    coefficients[order[k]] = std::int16_t(value);
  }
  ECKART_HOST_DEVICE void end_block() {
    ++sums.blocks;
    coefficients += kBlockSize;
  }
};

/// Reads codes from `at` to the first that begins at `end_bit` or later, or until the output is
/// full, and sets `at` to it. Returns `none`, or why it stopped earlier.
///
/// Each step takes one code. It decodes a coefficient, skips zeros or ends a block, so the output
/// of coefficients takes at most 64 steps a block. A counter takes at most one for each bit. Steps
/// are the same for first coefficients, others and ends of blocks, because the threads of a warp
/// wait for each other.
template <typename Output>
ECKART_HOST_DEVICE Irregularity read_codes(const Layout& layout, const Tables& tables,
                                           const ScanData& data, std::int64_t end_bit,
                                           CodePosition& at, Output& output) {
  const std::int64_t data_bits = std::int64_t(data.bytes) * 8;
  const std::int32_t luma_blocks = layout.luma_blocks_per_mcu();
  const std::int32_t blocks_per_mcu = layout.blocks_per_mcu();
  BitReader reader(data, at.bit);
  std::int32_t in_mcu = at.in_mcu, k = at.k;
  while (reader.bits_read() < end_bit && !output.is_full()) {
    reader.refill();
    const bool is_chroma = in_mcu >= luma_blocks;
    const HuffmanTable& table = (k == 0 ? tables.dc : tables.ac)[is_chroma];
    std::uint32_t code = table.lookup[reader.peek(HuffmanTable::kLookupBits)];
    if (code == 0) code = find_long_code(table, reader.peek(HuffmanTable::kMaxCodeBits));
    if (code == 0) {
      if (Output::kStopsIfIrregular) return Irregularity::code;
      reader.skip(1);
      continue;
    }
    const int bits = int(code >> 8), run = int(code >> 4 & 15), value_bits = int(code & 15);
    const std::int32_t value = reader.peek_value(bits - value_bits, value_bits);
    reader.skip(bits);  // once: the next step waits for it
    if (k == 0) {
      const std::int32_t channel = is_chroma ? in_mcu - luma_blocks + 1 : 0;
      if (!output.write_dc(channel, value)) return Irregularity::value;
    } else if (value_bits != 0) {
      k += run;
      if (k < kBlockSize) {
        output.write_ac(k, value);
      } else if (Output::kStopsIfIrregular) {
        return Irregularity::run;
      }
    } else {
      k = run == 15 ? k + run : kBlockSize - 1;  // 16 zeros, or the end of the block
    }
    ++k;
    if (k < kBlockSize) continue;
    if (Output::kStopsIfIrregular) {
      if (k > kBlockSize) return Irregularity::run;
      if (reader.bits_read() > data_bits) return Irregularity::data_ended;
    }
    output.end_block();
    k = 0;
    in_mcu = in_mcu + 1 == blocks_per_mcu ? 0 : in_mcu + 1;
  }
  at = {reader.bits_read(), in_mcu, k};
  return Irregularity::none;
}

/// A part of a scan that a thread decodes, while others decode the other parts.
///
/// Where the first code of a segment begins is not known, nor what the codes before it add up to.
/// So a thread guesses: it reads codes from a bit before the segment on. It reads wrong ones at
/// first, but most often soon comes to the bit, block and coefficient where a code begins. Where
/// the segment before it ends tells whether it did. Then each segment is decoded as if the whole
/// scan had been decoded before, or the result is irregular.
struct ScanSegment {
  std::int64_t begin_bit, end_bit;  ///< codes that begin here belong to it
  CodePosition first, next;         ///< of its first code, and of the first after it
  CodeSums sums;                    ///< of its codes
};

inline constexpr int kMaxScanSegments = 32;
/// For small images, guesses in smaller segments would take longer than their decoding.
inline constexpr std::int32_t kMinScanSegmentBytes = 512;
/// More than 64 codes of 16 bits with values of 15 bits.
inline constexpr std::int64_t kMaxBlockBytes = 256;

/// The number of segments of a scan for that many threads, at most kMaxScanSegments. Data that are
/// left after the last block are not divided: nobody reads them.
ECKART_HOST_DEVICE inline int scan_segments(const Layout& layout, std::int32_t data_bytes,
                                            int threads) {
  if (data_bytes > layout.blocks() * kMaxBlockBytes) return 1;
  const std::int32_t segments = data_bytes / kMinScanSegmentBytes;
  return segments < 1 ? 1 : segments < threads ? int(segments) : threads;
}

/// Bits before a segment that are read to guess its first code. Which of several blocks of luma a
/// code belongs to takes longest to find. Right in all of 992 segments of photographs and 5,376 of
/// slices (docs/explanation/gpu-batch.md).
ECKART_HOST_DEVICE inline std::int64_t guessed_bits(const Layout& layout) {
  return layout.luma_blocks_per_mcu() == 1 ? 1024 : 16384;
}

/// Segment `index` of `count`.
ECKART_HOST_DEVICE inline ScanSegment scan_segment(const ScanData& data, int index, int count) {
  constexpr std::int64_t kNoEnd = std::int64_t(1) << 62;
  const std::int64_t words = (std::int64_t(data.bytes) + 3) / 4;
  const std::int64_t bits = (words + count - 1) / count * 32;
  return {bits * index, index + 1 < count ? bits * (index + 1) : kNoEnd, {}, {}, {}};
}

/// Adds up the codes of a segment that is not the last, from `first` on.
ECKART_HOST_DEVICE inline void add_up_segment(const Layout& layout, const Tables& tables,
                                              const ScanData& data, ScanSegment& segment) {
  CodeCounter counter;
  segment.next = segment.first;
  static_cast<void>(read_codes(layout, tables, data, segment.end_bit, segment.next, counter));
  segment.sums = counter.sums;
}

/// Sets `first` of a segment that is not the first.
ECKART_HOST_DEVICE inline void guess_first_code(const Layout& layout, const Tables& tables,
                                                const ScanData& data, ScanSegment& segment) {
  const std::int64_t bits = guessed_bits(layout);
  CodeCounter counter;
  segment.first = {segment.begin_bit > bits ? segment.begin_bit - bits : 0, 0, 0};
  static_cast<void>(read_codes(layout, tables, data, segment.begin_bit, segment.first, counter));
}

/// Decodes a segment with the right `first`, and the sums of all segments before it, into the
/// coefficients of the image. See decode_scan().
ECKART_HOST_DEVICE inline Irregularity decode_segment(const Layout& layout, const Tables& tables,
                                                      const ScanData& data,
                                                      const ScanSegment& segment,
                                                      const CodeSums& before,
                                                      std::int16_t* coefficients) {
  if (before.blocks >= layout.blocks()) return Irregularity::none;
  CoefficientWriter writer{before, layout.blocks(), tables.order,
                           coefficients + before.blocks * kBlockSize};
  CodePosition next = segment.first;
  if (const Irregularity found = read_codes(layout, tables, data, segment.end_bit, next, writer);
      found != Irregularity::none || !writer.is_full())
    return found;
  return std::int64_t(data.bytes) * 8 - next.bit < 8 ? Irregularity::none : Irregularity::data_left;
}

/// Decodes the coefficients of an image: layout.blocks() blocks in the order of the scan, each in
/// Tables::order. `coefficients` must be zeros. Returns `none` only for data that libjpeg decodes
/// without a warning, to the same coefficients. The result does not depend on the number of
/// segments, 1 to kMaxScanSegments. A kernel does the same with a thread for each segment.
inline Irregularity decode_scan(const Layout& layout, const Tables& tables, const ScanData& data,
                                int segments, std::int16_t* coefficients) {
  std::array<ScanSegment, kMaxScanSegments> parts;
  for (int i = 0; i < segments; ++i) {
    ScanSegment& part = parts[i] = scan_segment(data, i, segments);
    if (i > 0) guess_first_code(layout, tables, data, part);
    if (i + 1 < segments) add_up_segment(layout, tables, data, part);
  }
  CodeSums before;
  for (int i = 0; i < segments; ++i) {
    ScanSegment& part = parts[i];
    if (i > 0 && !(part.first == parts[i - 1].next)) {
      part.first = parts[i - 1].next;
      if (i + 1 < segments) add_up_segment(layout, tables, data, part);
    }
    const Irregularity found = decode_segment(layout, tables, data, part, before, coefficients);
    if (found != Irregularity::none) return found;
    before += part.sums;
  }
  return Irregularity::none;
}

}  // namespace eckart::codec::jpeg
