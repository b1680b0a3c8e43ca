#include "codec/jpeg/standard_tables.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace eckart::codec::jpeg {
namespace {

constexpr int kMaxCodedDcBits = 11, kMaxCodedAcBits = 10;  // of the values that codes stand for

using QuantizationTable = std::array<std::uint8_t, kBlockSize>;  // row after row

// ITU-T T.81, tables K.1 and K.2.
constexpr QuantizationTable kLuma{
    16, 11, 10, 16, 24,  40,  51,  61,  12, 12, 14, 19, 26,  58,  60,  55,   //
    14, 13, 16, 24, 40,  57,  69,  56,  14, 17, 22, 29, 51,  87,  80,  62,   //
    18, 22, 37, 56, 68,  109, 103, 77,  24, 35, 55, 64, 81,  104, 113, 92,   //
    49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99};  //
constexpr QuantizationTable kChroma{
    17, 18, 24, 47, 99, 99, 99, 99, 18, 21, 26, 66, 99, 99, 99, 99,   //
    24, 26, 56, 99, 99, 99, 99, 99, 47, 66, 99, 99, 99, 99, 99, 99,   //
    99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,   //
    99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99};  //

/// A table of ITU-T T.81, K.3. Its values are `first`, then all others in ascending order.
struct StandardCode {
  std::array<std::uint8_t, 16> counts;  ///< of codes with 1 to 16 bits
  std::span<const std::uint8_t> first;
};

constexpr std::array<std::uint8_t, 37> kFirstLumaAc{
    0x01, 0x02, 0x03, 0x00, 0x04, 0x11, 0x05, 0x12, 0x21, 0x31, 0x41, 0x06, 0x13,
    0x51, 0x61, 0x07, 0x22, 0x71, 0x14, 0x32, 0x81, 0x91, 0xA1, 0x08, 0x23, 0x42,
    0xB1, 0xC1, 0x15, 0x52, 0xD1, 0xF0, 0x24, 0x33, 0x62, 0x72, 0x82};
constexpr std::array<std::uint8_t, 43> kFirstChromaAc{
    0x00, 0x01, 0x02, 0x03, 0x11, 0x04, 0x05, 0x21, 0x31, 0x06, 0x12, 0x41, 0x51, 0x07, 0x61,
    0x71, 0x13, 0x22, 0x32, 0x81, 0x08, 0x14, 0x42, 0x91, 0xA1, 0xB1, 0xC1, 0x09, 0x23, 0x33,
    0x52, 0xF0, 0x15, 0x62, 0x72, 0xD1, 0x0A, 0x16, 0x24, 0x34, 0xE1, 0x25, 0xF1};

constexpr StandardCode kLumaDc{{0, 1, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0}, {}};
constexpr StandardCode kChromaDc{{0, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0}, {}};
constexpr StandardCode kLumaAc{{0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 125}, kFirstLumaAc};
constexpr StandardCode kChromaAc{{0, 2, 1, 2, 4, 4, 3, 4, 7, 5, 4, 4, 0, 1, 2, 119},
                                 kFirstChromaAc};

/// Whether a coefficient other than the first can have this symbol: a run of zeros and the bits of
/// a value, the end of the block, or 16 zeros.
constexpr bool is_ac_symbol(int symbol) {
  const int bits = symbol & 15;
  return (bits >= 1 && bits <= kMaxCodedAcBits) || symbol == 0x00 || symbol == 0xF0;
}

HuffmanSpec spec_of(const StandardCode& code, bool is_dc) {
  HuffmanSpec spec{};
  std::ranges::copy(code.counts, spec.counts);
  std::uint8_t* next = std::ranges::copy(code.first, spec.values).out;
  const int end = is_dc ? kMaxCodedDcBits + 1 : 256;
  for (int symbol = 0; symbol < end; ++symbol) {
    const bool is_used = is_dc || is_ac_symbol(symbol);
    if (is_used && std::ranges::find(code.first, symbol) == code.first.end())
      *next++ = std::uint8_t(symbol);
  }
  return spec;
}

/// `order` is that of Tables::order, of columns.
void scale(const QuantizationTable& table, int quality, std::uint16_t (&scaled)[kBlockSize],
           const std::uint8_t (&order)[kBlockSize]) {
  const int percent = quality < 50 ? 5000 / quality : 200 - 2 * quality;
  for (int k = 0; k < kBlockSize; ++k) {
    const std::size_t row = order[k] % kBlockSide, col = order[k] / kBlockSide;
    const int value = (table[row * kBlockSide + col] * percent + 50) / 100;
    scaled[k] = std::uint16_t(std::clamp(value, 1, 255));
  }
}

}  // namespace

TableSpecs standard_tables(int quality, int channels) {
  TableSpecs specs{};
  std::uint8_t order[kBlockSize];
  fill_order(order);
  scale(kLuma, quality, specs.quantization[0], order);
  specs.dc[0] = spec_of(kLumaDc, /*is_dc=*/true);
  specs.ac[0] = spec_of(kLumaAc, /*is_dc=*/false);
  if (channels == 1) return specs;
  scale(kChroma, quality, specs.quantization[1], order);
  std::ranges::copy(specs.quantization[1], specs.quantization[2]);
  specs.dc[1] = spec_of(kChromaDc, /*is_dc=*/true);
  specs.ac[1] = spec_of(kChromaAc, /*is_dc=*/false);
  return specs;
}

}  // namespace eckart::codec::jpeg
