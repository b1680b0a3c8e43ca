#include "codec/jpeg/tables.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace eckart::codec::jpeg {
namespace {

constexpr int kMaxDcBits = 15;

void fill_lookup(HuffmanTable& table, int bits, int code, int index) {
  const int unused = HuffmanTable::kLookupBits - bits;
  std::fill_n(table.lookup + (code << unused), 1 << unused,
              std::uint16_t(code_entry(bits, table.values[index])));
}

/// ITU-T T.81, annex C: codes of equal length are consecutive, and a longer code continues after
/// the last shorter one.
void build(const HuffmanSpec& spec, HuffmanTable& table) {
  std::ranges::copy(spec.values, table.values);
  int code = 0, index = 0;
  for (int bits = 1; bits <= HuffmanTable::kMaxCodeBits; ++bits, code <<= 1) {
    const int count = spec.counts[bits - 1];
    if (bits <= HuffmanTable::kLookupBits) {
      for (int i = 0; i < count; ++i) fill_lookup(table, bits, code + i, index + i);
    } else {
      const int slow = bits - HuffmanTable::kLookupBits - 1;
      table.offset[slow] = index - code;
      table.end[slow] = std::uint16_t((code + count) << (HuffmanTable::kMaxCodeBits - bits));
    }
    code += count;
    index += count;
  }
}

}  // namespace

/// Along the diagonals of a block. ITU-T T.81, figure A.6.
void fill_order(std::uint8_t (&order)[kBlockSize]) {
  int k = 0;
  for (int diagonal = 0; diagonal < 2 * kBlockSide - 1; ++diagonal) {
    const int first = std::max(0, diagonal - kBlockSide + 1);
    const int last = std::min(diagonal, kBlockSide - 1);
    for (int i = first; i <= last; ++i) {
      const int row = diagonal % 2 == 0 ? diagonal - i : i;
      order[k++] = std::uint8_t((diagonal - row) * kBlockSide + row);
    }
  }
}

bool TableSpecs::operator==(const TableSpecs& other) const {
  return std::memcmp(this, &other, sizeof *this) == 0;  // has no padding, see below
}

std::size_t TableSpecsHash::operator()(const TableSpecs& specs) const {
  static_assert(sizeof(TableSpecs) == 4 * sizeof(HuffmanSpec) + sizeof(TableSpecs::quantization));
  return std::hash<std::string_view>()({reinterpret_cast<const char*>(&specs), sizeof specs});
}

bool is_valid(const HuffmanSpec& spec, bool is_dc) {
  int code = 0, count = 0;
  for (int bits = 1; bits <= HuffmanTable::kMaxCodeBits; ++bits, code <<= 1) {
    code += spec.counts[bits - 1];
    count += spec.counts[bits - 1];
    if (code >= 1 << bits) return false;
  }
  if (count > 256) return false;
  return !is_dc || std::all_of(spec.values, spec.values + count,
                               [](std::uint8_t value) { return value <= kMaxDcBits; });
}

Tables build_tables(const TableSpecs& specs) {
  Tables tables{};
  for (int i = 0; i < 2; ++i) {
    build(specs.dc[i], tables.dc[i]);
    build(specs.ac[i], tables.ac[i]);
  }
  fill_order(tables.order);
  for (int channel = 0; channel < 3; ++channel) {
    for (int k = 0; k < kBlockSize; ++k)
      tables.quantization[channel][tables.order[k]] = specs.quantization[channel][k];
  }
  return tables;
}

}  // namespace eckart::codec::jpeg
