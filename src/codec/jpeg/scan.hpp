#pragma once

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
  ECKART_HOST_DEVICE explicit BitReader(const ScanData& data)
      : words_(data.words), count_((data.bytes + 3) / 4), next_(load(0)) {}

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
  std::int32_t taken_ = 0;
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

/// Decodes the coefficients of an image: layout.blocks() blocks in the order of the scan, each in
/// Tables::order. `coefficients` must be zeros. Returns `none` only for data that libjpeg decodes
/// without a warning, to the same coefficients.
///
/// Each step takes one code. It decodes at least one coefficient or ends a block, so there are at
/// most 64 steps a block. Steps are the same for first coefficients, others and ends of blocks,
/// because a warp decodes 32 images.
ECKART_HOST_DEVICE inline Irregularity decode_scan(const Layout& layout, const Tables& tables,
                                                   const ScanData& data,
                                                   std::int16_t* coefficients) {
  constexpr std::int32_t kMaxValue = 32767;
  const std::int64_t data_bits = std::int64_t(data.bytes) * 8;
  const std::int32_t blocks = std::int32_t(layout.blocks());
  const std::int32_t luma_blocks = layout.luma_blocks_per_mcu();
  const std::int32_t blocks_per_mcu = layout.blocks_per_mcu();
  BitReader reader(data);
  std::int32_t last_y = 0, last_cb = 0, last_cr = 0;  // DC coefficients
  std::int32_t in_mcu = 0, k = 0;                     // of the next coefficient
  for (std::int32_t block = 0; block < blocks;) {
    reader.refill();
    const bool is_chroma = in_mcu >= luma_blocks;
    const HuffmanTable& table = (k == 0 ? tables.dc : tables.ac)[is_chroma];
    std::uint32_t code = table.lookup[reader.peek(HuffmanTable::kLookupBits)];
    if (code == 0) code = find_long_code(table, reader.peek(HuffmanTable::kMaxCodeBits));
    if (code == 0) return Irregularity::code;
    const int bits = int(code >> 8), run = int(code >> 4 & 15), value_bits = int(code & 15);
    std::int32_t value = reader.peek_value(bits - value_bits, value_bits);
    reader.skip(bits);  // once: the next step waits for it
    if (k == 0) {
      std::int32_t& last = in_mcu == luma_blocks       ? last_cb
                           : in_mcu == luma_blocks + 1 ? last_cr
                                                       : last_y;
      value += last;
      last = value;
      if (value > kMaxValue || value < -kMaxValue) return Irregularity::value;
    } else {
      k += run;
    }
    const bool is_zero = value_bits == 0 && k != 0;
    if (!is_zero) {
      if (k >= kBlockSize) return Irregularity::run;
      coefficients[tables.order[k]] = std::int16_t(value);
    } else if (run != 15) {
      k = kBlockSize - 1;  // end of the block
    }
    ++k;
    if (k < kBlockSize) continue;
    if (k > kBlockSize) return Irregularity::run;
    if (reader.bits_read() > data_bits) return Irregularity::data_ended;
    ++block;
    coefficients += kBlockSize;
    k = 0;
    in_mcu = in_mcu + 1 == blocks_per_mcu ? 0 : in_mcu + 1;
  }
  return data_bits - reader.bits_read() < 8 ? Irregularity::none : Irregularity::data_left;
}

}  // namespace eckart::codec::jpeg
