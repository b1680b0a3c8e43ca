#pragma once

#include <cstdint>

#include "codec/jpeg/encoding_tables.hpp"
#include "codec/jpeg/layout.hpp"
#include "core/host_device.hpp"

// The entropy-coded data of blocks: ITU-T T.81, F.1.2.
namespace eckart::codec::jpeg {

/// A block has at most as many bits: its first coefficient has a code of up to 11 bits and a value
/// of up to 11, the others 16 and 10.
inline constexpr std::uint32_t kMaxBlockBits = 22 + (kBlockSize - 1) * 26;

ECKART_HOST_DEVICE inline int bit_width(std::uint32_t value) {
#ifdef __CUDA_ARCH__
  return 32 - __clz(int(value));
#else
  return value == 0 ? 0 : 32 - __builtin_clz(value);
#endif
}

/// The bits of a scan as words: the first bit is the highest. Other threads may write the bits
/// before and after those of this writer at the same time. All words are 0 before.
class BitWriter {
 public:
  ECKART_HOST_DEVICE BitWriter(std::uint32_t* words, std::uint32_t first_bit)
      : next_(words + first_bit / 32), used_(int(first_bit % 32)), is_shared_(used_ > 0) {}

  /// `count` is 1 to 32.
  ECKART_HOST_DEVICE void put(std::uint32_t bits, int count) {
    bits_ |= std::uint64_t(bits) << (64 - used_ - count);
    used_ += count;
    if (used_ < 32) return;
    const auto word = std::uint32_t(bits_ >> 32);
    if (is_shared_) {
      add(word);
    } else {
      *next_ = word;
    }
    is_shared_ = false;
    ++next_;
    bits_ <<= 32;
    used_ -= 32;
  }
  ECKART_HOST_DEVICE void finish() {
    if (used_ > 0) add(std::uint32_t(bits_ >> 32));
  }

 private:
  ECKART_HOST_DEVICE void add(std::uint32_t bits) {
#ifdef __CUDA_ARCH__
    atomicOr(next_, bits);
#else
    *next_ |= bits;
#endif
  }

  std::uint32_t* next_;
  int used_;
  bool is_shared_;  // another writer may have bits of this word
  std::uint64_t bits_ = 0;
};

/// Counts bits instead of writing them.
struct BitCounter {
  std::uint32_t count = 0;
  ECKART_HOST_DEVICE void put(std::uint32_t /*bits*/, int bits_count) {
    count += std::uint32_t(bits_count);
  }
};

/// What the first coefficient of a block adds to that of the block before. `coefficients` are those
/// of the image.
ECKART_HOST_DEVICE inline std::int32_t dc_difference(const Layout& layout,
                                                     const std::int16_t* coefficients,
                                                     std::int32_t block) {
  const auto dc_of = [&](std::int32_t of) {
    return of < 0 ? 0 : std::int32_t(coefficients[std::int64_t(layout.dc_source(of)) * kBlockSize]);
  };
  return dc_of(block) - dc_of(layout.block_before(block));
}

/// Writes a code and the bits of its value: a negative value is decreased by 1.
template <class Bits>
ECKART_HOST_DEVICE void put_value(const HuffmanCode& code, std::int32_t value, int value_bits,
                                  Bits& bits) {
  const std::uint32_t mask = (std::uint32_t(1) << value_bits) - 1;
  const std::uint32_t low = std::uint32_t(value < 0 ? value - 1 : value) & mask;
  bits.put(std::uint32_t(code.code) << value_bits | low, code.bits + value_bits);
}

ECKART_HOST_DEVICE inline int value_bits_of(std::int32_t value) {
  return bit_width(std::uint32_t(value < 0 ? -value : value));
}

/// Writes a block to a BitWriter or a BitCounter. `coefficients` are the 64 of the block, in the
/// order of ScanCodes::order.
template <class Bits>
ECKART_HOST_DEVICE void write_block(const std::int16_t* coefficients, std::int32_t dc_difference,
                                    const ScanCodes& codes, bool is_chroma, Bits& bits) {
  constexpr int kEndOfBlock = 0x00, kZeros = 0xF0, kMaxRun = 15;
  const HuffmanCode* const ac = codes.ac[is_chroma];
  const int dc_bits = value_bits_of(dc_difference);
  put_value(codes.dc[is_chroma][dc_bits], dc_difference, dc_bits, bits);
  int run = 0;
  for (int k = 1; k < kBlockSize; ++k) {
    const std::int32_t value = coefficients[codes.order[k]];
    if (value == 0) {
      ++run;
      continue;
    }
    for (; run > kMaxRun; run -= kMaxRun + 1) put_value(ac[kZeros], 0, 0, bits);
    const int value_bits = value_bits_of(value);
    put_value(ac[run << 4 | value_bits], value, value_bits, bits);
    run = 0;
  }
  if (run > 0) put_value(ac[kEndOfBlock], 0, 0, bits);
}

/// Fills the last byte of the data with ones.
template <class Bits>
ECKART_HOST_DEVICE void fill_last_byte(std::uint32_t bits_written, Bits& bits) {
  const int missing = int((8 - bits_written % 8) % 8);
  if (missing == 0) return;
  bits.put((std::uint32_t(1) << missing) - 1, missing);
}

}  // namespace eckart::codec::jpeg
