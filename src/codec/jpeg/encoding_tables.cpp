#include "codec/jpeg/encoding_tables.hpp"

#include <cstddef>

namespace eckart::codec::jpeg {
namespace {

/// ITU-T T.81, annex C. The values of the spec are indices of `codes`.
template <std::size_t size>
void assign_codes(const HuffmanSpec& spec, HuffmanCode (&codes)[size]) {
  std::uint16_t code = 0;
  const std::uint8_t* value = spec.values;
  std::uint16_t bits = 0;
  for (const std::uint8_t count : spec.counts) {
    ++bits;
    for (int i = 0; i < count; ++i) codes[*value++] = {code++, bits};
    code <<= 1;
  }
}

}  // namespace

EncodingTables build_encoding_tables(const TableSpecs& specs) {
  EncodingTables tables{};
  fill_order(tables.codes.order);
  for (int i = 0; i < 2; ++i) {
    assign_codes(specs.dc[i], tables.codes.dc[i]);
    assign_codes(specs.ac[i], tables.codes.ac[i]);
    for (int k = 0; k < kBlockSize; ++k) {
      const std::uint8_t at = tables.codes.order[k];
      const std::uint16_t step = specs.quantization[i][k];
      tables.quantization[i][at] = step;
      // Gray has no table for chroma.
      tables.reciprocals[i][at] = step == 0 ? 0 : reciprocal_of(kCoefficientScale * step);
    }
  }
  return tables;
}

}  // namespace eckart::codec::jpeg
