#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/jpeg/layout.hpp"
#include "core/host_device.hpp"

namespace eckart::codec::jpeg {

/// A Huffman table as in a DHT segment. ITU-T T.81, B.2.4.2.
struct HuffmanSpec {
  std::uint8_t counts[16];   ///< of codes with 1 to 16 bits
  std::uint8_t values[256];  ///< in the order of the codes, then zeros
};

/// The tables of one image as in its file. Both chroma channels use the same Huffman tables. Images
/// with equal tables share one `Tables`.
struct TableSpecs {
  HuffmanSpec dc[2], ac[2];                   ///< of luma, and of chroma; zeros for gray
  std::uint16_t quantization[3][kBlockSize];  ///< of each channel, in zigzag order
  bool operator==(const TableSpecs& other) const;
};

/// Hash of equal tables for unordered containers.
struct TableSpecsHash {
  std::size_t operator()(const TableSpecs& specs) const;
};

/// A Huffman table to decode with.
struct HuffmanTable {
  static constexpr int kLookupBits = 10;
  static constexpr int kMaxCodeBits = 16;
  /// By the next bits: the number of bits to skip << 8, and the value of the code. 0 if the code is
  /// longer. The low half of the value is the number of bits that follow the code and are skipped
  /// too.
  std::uint16_t lookup[1 << kLookupBits];
  /// For codes of kLookupBits + 1 bits and more. `end`: the first 16 bits that are above all codes
  /// of this or a smaller length. `offset`: from a code to the index of its value.
  std::uint16_t end[kMaxCodeBits - kLookupBits];
  std::int32_t offset[kMaxCodeBits - kLookupBits];
  std::uint8_t values[256];
};

/// An entry of HuffmanTable::lookup.
ECKART_HOST_DEVICE constexpr std::uint32_t code_entry(int code_bits, std::uint8_t value) {
  return std::uint32_t(code_bits + (value & 15)) << 8 | value;
}

/// All tables of an image to decode with. Plain data: it is copied to the device.
struct Tables {
  HuffmanTable dc[2], ac[2];  ///< of luma, and of chroma
  /// Of each channel, in the order of coefficients. Aligned so that columns can be loaded.
  alignas(16) std::uint16_t quantization[3][kBlockSize];
  /// From zigzag order to the order in which coefficients are stored: column after column.
  std::uint8_t order[kBlockSize];
};

/// Sets Tables::order.
void fill_order(std::uint8_t (&order)[kBlockSize]);

/// Whether libjpeg accepts the table: its codes exist and none is all ones; values of a DC table
/// are at most 15.
bool is_valid(const HuffmanSpec& spec, bool is_dc);

/// All tables must be valid.
Tables build_tables(const TableSpecs& specs);

}  // namespace eckart::codec::jpeg
