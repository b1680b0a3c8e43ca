#include "codec/jpeg/encoder.hpp"

#include <algorithm>
#include <iterator>

#include "codec/jpeg/block_writer.hpp"
#include "codec/jpeg/color.hpp"
#include "codec/jpeg/fdct.hpp"
#include "codec/jpeg/idct.hpp"
#include "codec/jpeg/samples.hpp"

namespace eckart::codec::jpeg {
namespace {

const std::uint8_t* samples_of(const Image& image) {
  return reinterpret_cast<const std::uint8_t*>(image.data());
}

std::vector<std::uint8_t> to_planes(const Image& pixels, const Layout& layout) {
  std::vector<std::uint8_t> planes(std::size_t(layout.samples()));
  for (std::int32_t i = 0; i < layout.samples(); ++i) {
    const SamplePlace place = layout.sample_place(i);
    planes[std::size_t(i)] =
        sample_at(samples_of(pixels), layout, place.channel, place.row, place.col);
  }
  return planes;
}

void forward_transform_block(const std::uint8_t* samples, std::int32_t stride, int table,
                             const EncodingTables& tables, std::int16_t* coefficients) {
  std::int32_t rows[kBlockSide][kBlockSide];
  for (auto& row : rows) {
    std::copy(samples, samples + kBlockSide, row);
    forward_transform_row(row);
    samples += stride;
  }
  const std::uint16_t* quantization = tables.quantization[table];
  const std::uint32_t* reciprocals = tables.reciprocals[table];
  for (int col = 0; col < kBlockSide; ++col) {
    std::int32_t column[kBlockSide];
    std::int16_t quantized[kBlockSide];
    for (int row = 0; row < kBlockSide; ++row) column[row] = rows[row][col];
    forward_transform_column(column, quantization, reciprocals, quantized);
    quantization += kBlockSide;
    reciprocals += kBlockSide;
    coefficients = std::copy(std::begin(quantized), std::end(quantized), coefficients);
  }
}

/// The coefficients of all blocks; zeros of blocks without pixels.
std::vector<std::int16_t> coefficients_of(const std::vector<std::uint8_t>& planes,
                                          const Layout& layout, const EncodingTables& tables) {
  std::vector<std::int16_t> coefficients(planes.size());
  for (std::int32_t block = 0; block < layout.blocks(); ++block) {
    if (!layout.has_pixels(block)) continue;
    const BlockPlace place = layout.place(block);
    forward_transform_block(&planes[std::size_t(place.first_sample)], place.stride,
                            place.channel > 0, tables,
                            &coefficients[std::size_t(block) * kBlockSize]);
  }
  return coefficients;
}

std::vector<std::byte> to_data(const std::vector<std::int16_t>& coefficients, const Layout& layout,
                               const ScanCodes& codes) {
  std::vector<std::uint32_t> words(std::size_t(layout.blocks()) * kMaxBlockBits / 32 + 1);
  std::uint32_t bits = 0;
  for (std::int32_t block = 0; block < layout.blocks(); ++block) {
    const auto write = [&](auto& to) {
      write_block(&coefficients[std::size_t(block) * kBlockSize],
                  dc_difference(layout, coefficients.data(), block), codes,
                  layout.place(block).channel > 0, to);
    };
    BitCounter counter;
    write(counter);
    BitWriter writer(words.data(), bits);
    write(writer);
    bits += counter.count;
    if (block + 1 == layout.blocks()) fill_last_byte(bits, writer);
    writer.finish();
  }
  std::vector<std::byte> data;
  for (std::uint32_t i = 0; i < (bits + 7) / 8; ++i) {
    const auto byte = std::byte(words[i / 4] >> (24 - 8 * (i % 4)) & 0xFF);
    data.push_back(byte);
    if (byte == std::byte(0xFF)) data.push_back(std::byte(0));
  }
  return data;
}

std::optional<std::uint64_t> squared_error(const std::vector<std::int16_t>& coefficients,
                                           const Image& original, const Layout& layout,
                                           const EncodingTables& tables) {
  std::vector<std::uint8_t> planes(coefficients.size());
  for (std::int32_t block = 0; block < layout.blocks(); ++block) {
    const BlockPlace place = layout.place(block);
    if (!transform_block(&coefficients[std::size_t(block) * kBlockSize],
                         tables.quantization[place.channel > 0],
                         &planes[std::size_t(place.first_sample)], place.stride))
      return std::nullopt;
  }
  std::uint64_t sum = 0;
  for (std::int32_t row = 0; row < layout.rows; ++row)
    for (std::int32_t col = 0; col < layout.cols; ++col)
      sum += squared_error_of_pixel(planes.data(), layout, row, col, samples_of(original));
  return sum;
}

}  // namespace

std::optional<Layout> encoding_layout(const ImageShape& shape,
                                      const ChromaSubsampling& subsampling) {
  const auto is_one_or_two = [](int factor) { return factor == 1 || factor == 2; };
  if (shape.depth != Depth::u8 || (shape.channels != 1 && shape.channels != 3) ||
      !is_one_or_two(subsampling.cols) || !is_one_or_two(subsampling.rows))
    return std::nullopt;
  if (shape.channels == 1) return Layout{shape.rows, shape.cols};
  return Layout{shape.rows, shape.cols, shape.channels, subsampling.cols, subsampling.rows};
}

EncodedScan encode_scan(const Image& pixels, const Image& original, const Layout& layout,
                        const EncodingTables& tables) {
  const std::vector<std::int16_t> coefficients =
      coefficients_of(to_planes(pixels, layout), layout, tables);
  return {to_data(coefficients, layout, tables.codes),
          squared_error(coefficients, original, layout, tables)};
}

}  // namespace eckart::codec::jpeg
