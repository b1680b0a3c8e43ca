#include "codec/png_ihdr.hpp"

#include <climits>
#include <cstdint>

#include "codec/image_codecs.hpp"
#include "codec/png_chunk.hpp"

namespace eckart::codec {
namespace {

bool is_color_type(int type) {
  return type == PngColorType::kGray || type == PngColorType::kRgb ||
         type == PngColorType::kPalette || type == PngColorType::kGrayAlpha ||
         type == PngColorType::kRgbAlpha;
}

bool is_depth_of(int color_type, int bits) {
  if (bits == 8) return true;
  if (bits == 16) return color_type != PngColorType::kPalette;
  return (bits == 1 || bits == 2 || bits == 4) &&
         (color_type == PngColorType::kGray || color_type == PngColorType::kPalette);
}

}  // namespace

PngIhdr parse_png_ihdr(const PngChunk& chunk, std::span<const std::byte> data) {
  constexpr std::size_t kSize = 13;
  if (chunk.type != "IHDR" || chunk.size != kSize || data.size() < kSize)
    fail_corrupt("has no IHDR chunk");
  const std::uint32_t cols = big_endian_32(data.first<4>());
  const std::uint32_t rows = big_endian_32(data.subspan<4, 4>());
  if (cols == 0 || rows == 0 || cols > INT_MAX || rows > INT_MAX) {
    fail_corrupt("declares an invalid image size");
  }
  const PngIhdr ihdr{int(rows), int(cols), int(data[8]), int(data[9]), data[12] == std::byte(1)};
  const bool known_methods =
      data[10] == std::byte(0) && data[11] == std::byte(0) && data[12] <= std::byte(1);
  if (!is_color_type(ihdr.color_type) || !is_depth_of(ihdr.color_type, ihdr.bits) ||
      !known_methods) {
    fail_corrupt("declares an invalid color type, bit depth or method");
  }
  return ihdr;
}

std::size_t png_row_bytes(const PngIhdr& ihdr) {
  struct Pass {
    int first_col, first_row, col_step, row_step;
  };
  constexpr std::array<Pass, 7> kAdam7{{{0, 0, 8, 8},
                                        {4, 0, 8, 8},
                                        {0, 4, 4, 8},
                                        {2, 0, 4, 4},
                                        {0, 2, 2, 4},
                                        {1, 0, 2, 2},
                                        {0, 1, 1, 2}}};
  constexpr std::array<Pass, 1> kAll{{{0, 0, 1, 1}}};
  const auto count = [](int side, int first, int step) {
    return side <= first ? std::size_t(0) : std::size_t((side - first - 1) / step) + 1;
  };
  const auto pixel_bits = std::size_t(ihdr.channels()) * std::size_t(ihdr.bits);
  std::size_t bytes = 0;
  for (const Pass& pass : ihdr.interlaced ? std::span<const Pass>(kAdam7) : kAll) {
    const std::size_t cols = count(ihdr.cols, pass.first_col, pass.col_step);
    const std::size_t rows = count(ihdr.rows, pass.first_row, pass.row_step);
    if (cols > 0) bytes += rows * (1 + (cols * pixel_bits + 7) / 8);
  }
  return bytes;
}

}  // namespace eckart::codec
