// BMP, without run-length encoding. Source: Microsoft, "Bitmap Storage" and BITMAPV5HEADER.
#include <algorithm>
#include <array>
#include <bit>
#include <climits>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "codec/alpha.hpp"
#include "codec/deadline.hpp"
#include "codec/image_codecs.hpp"
#include "codec/packed_samples.hpp"

namespace eckart::codec {
namespace {

constexpr std::size_t kFileHeader = 14;
enum InfoSize : std::uint32_t { kCore = 12, kInfo = 40, kWithMasks = 52, kWithAlphaMask = 56 };
enum Compression : std::uint32_t { kNone = 0, kRle8 = 1, kRle4 = 2, kMasks = 3, kAlphaMasks = 6 };

std::uint32_t little_endian(std::span<const std::byte> bytes, std::size_t offset,
                            std::size_t count) {
  if (offset + count > bytes.size()) fail_corrupt("ends in its header");
  std::uint32_t value = 0;
  for (std::size_t i = count; i-- > 0;) value = value << 8 | std::uint32_t(bytes[offset + i]);
  return value;
}

bool is_info_size(std::uint32_t size) {
  constexpr std::uint32_t kV4 = 108, kV5 = 124;
  return size == kCore || size == kInfo || size == kWithMasks || size == kWithAlphaMask ||
         size == kV4 || size == kV5;
}

bool sniff(std::span<const std::byte> file) {
  return file.size() >= kFileHeader + 4 && file[0] == std::byte('B') && file[1] == std::byte('M') &&
         is_info_size(little_endian(file, kFileHeader, 4));
}

/// The bits of one channel in a pixel of 16 or 32 bits.
struct Field {
  int shift = 0, bits = 0;

  std::uint8_t sample(std::uint32_t pixel) const {
    const std::uint32_t max = (1U << bits) - 1;
    return std::uint8_t(((pixel >> shift & max) * 255 + max / 2) / max);
  }
};

Field parse_field(std::uint32_t mask) {
  if (mask == 0) return {};
  const Field field{std::countr_zero(mask), std::popcount(mask)};
  if (((mask >> field.shift) & ((mask >> field.shift) + 1)) != 0)
    fail_corrupt("has a color mask with a gap");
  if (field.bits > 8)
    fail_unsupported("has " + std::to_string(field.bits) + " bits per sample; at most 8 are read");
  return field;
}

struct BmpHeader {
  ImageShape shape;
  int bits = 0;  ///< per pixel
  bool is_top_down = false;
  std::array<Field, 4> fields;  ///< red, green, blue and alpha, if there is no palette
  std::vector<std::array<std::uint8_t, 3>> palette;  ///< red, green, blue
  std::size_t data = 0;                              ///< offset of the pixels
  PixelDensity density;                              ///< 0: unknown

  bool has_alpha() const { return fields[3].bits > 0; }
  /// Rows begin at multiples of 4 bytes.
  std::size_t row_bytes() const {
    return (std::size_t(shape.cols) * std::size_t(bits) + 31) / 32 * 4;
  }
  /// The bytes of all rows. The last may lack its padding.
  std::size_t data_bytes() const {
    return std::size_t(shape.rows - 1) * row_bytes() + packed_bytes(std::size_t(shape.cols), bits);
  }
};

void parse_size(BmpHeader& header, std::span<const std::byte> start, bool is_core) {
  const std::size_t width = is_core ? 2 : 4;
  std::int64_t cols = little_endian(start, 18, width),
               rows = little_endian(start, 18 + width, width);
  if (!is_core) {
    cols = std::int32_t(cols);
    rows = std::int32_t(rows);
  }
  header.is_top_down = rows < 0;
  if (cols <= 0 || rows == 0 || std::abs(rows) > INT_MAX)
    fail_corrupt("declares an invalid image size");
  header.shape = {int(std::abs(rows)), int(cols), 3, Depth::u8};
  header.bits = int(little_endian(start, is_core ? 24 : 28, 2));
}

void parse_fields(BmpHeader& header, std::span<const std::byte> start, std::uint32_t info_size,
                  std::uint32_t compression) {
  constexpr std::size_t kMaskOffset = kFileHeader + kInfo;
  std::array<std::uint32_t, 4> masks{0xFF0000, 0xFF00, 0xFF, 0};
  if (header.bits == 16) masks = {0x7C00, 0x3E0, 0x1F, 0};
  if (compression == kMasks || compression == kAlphaMasks) {
    const bool has_alpha = compression == kAlphaMasks || info_size >= kWithAlphaMask;
    for (std::size_t i = 0; i < (has_alpha ? 4U : 3U); ++i)
      masks[i] = little_endian(start, kMaskOffset + 4 * i, 4);
  }
  std::ranges::transform(masks, header.fields.begin(), parse_field);
  if (std::any_of(header.fields.begin(), header.fields.begin() + 3,
                  [](const Field& field) { return field.bits == 0; }))
    fail_corrupt("has an empty color mask");
}

void parse_palette(BmpHeader& header, std::span<const std::byte> start, std::uint32_t info_size) {
  const std::size_t entry = info_size == kCore ? 3 : 4, max = std::size_t(1) << header.bits;
  const std::size_t used = info_size == kCore ? 0 : little_endian(start, 46, 4);
  if (used > max) fail_corrupt("has a palette that is too long");
  const std::size_t colors = used == 0 ? max : used;
  bool is_gray = true;
  for (std::size_t i = 0; i < colors; ++i) {
    const std::uint32_t bgr = little_endian(start, kFileHeader + info_size + entry * i, 3);
    header.palette.push_back({std::uint8_t(bgr >> 16), std::uint8_t(bgr >> 8), std::uint8_t(bgr)});
    is_gray &= (bgr >> 16 & 0xFF) == (bgr & 0xFF) && (bgr >> 8 & 0xFF) == (bgr & 0xFF);
  }
  if (is_gray) header.shape.channels = 1;
}

BmpHeader parse_header(FileBytes file) {
  constexpr std::size_t kMaxHeader = kFileHeader + 124 + std::size_t(256) * 4;
  const std::span<const std::byte> start = file.at(0, kMaxHeader);
  if (!sniff(start)) fail_corrupt("has no BMP signature");
  const std::uint32_t info_size = little_endian(start, kFileHeader, 4);
  BmpHeader header;
  parse_size(header, start, info_size == kCore);
  const std::uint32_t compression = info_size == kCore ? 0 : little_endian(start, 30, 4);
  if (compression == kRle8 || compression == kRle4)
    fail_unsupported("is run-length encoded; save it without compression");
  const int bits = header.bits;
  const bool has_masks = compression == kMasks || compression == kAlphaMasks;
  if (bits == 1 || bits == 4 || bits == 8) {
    parse_palette(header, start, info_size);
  } else if (bits == 24 || bits == 16 || bits == 32) {
    parse_fields(header, start, info_size, compression);
  } else {
    fail_unsupported("has " + std::to_string(bits) + " bits per pixel");
  }
  if ((compression != kNone && !has_masks) || (has_masks && bits != 16 && bits != 32))
    fail_unsupported("has compression " + std::to_string(compression));
  if (info_size != kCore)
    header.density = {little_endian(start, 38, 4), little_endian(start, 42, 4)};
  header.data = little_endian(start, 10, 4);
  if (header.data < kFileHeader + info_size) fail_corrupt("has pixels inside its header");
  if (file.size() - std::min(file.size(), header.data) < header.data_bytes())
    fail_corrupt("truncated: the rows are incomplete");
  return header;
}

std::size_t decode_bytes(const BmpHeader& header) {
  return header.shape.bytes() + (header.has_alpha() ? alpha_shape(header.shape).bytes() : 0);
}

Header read_header(FileBytes file) {
  const BmpHeader header = parse_header(std::move(file));
  const std::size_t bytes = decode_bytes(header);
  return {header.shape, bytes, bytes, header.has_alpha()};
}

void decode_palette_row(const BmpHeader& header, const std::byte* from,
                        std::span<std::uint8_t> indices, std::uint8_t* to) {
  unpack_samples(from, header.bits, indices);
  for (const std::uint8_t index : indices) {
    if (index >= header.palette.size()) fail_corrupt("has a color outside its palette");
    to = std::copy_n(header.palette[index].begin(), header.shape.channels, to);
  }
}

void decode_color_row(const BmpHeader& header, const std::byte* from, std::uint8_t* to,
                      std::uint8_t* alpha) {
  const int bytes = header.bits / 8;
  for (int col = 0; col < header.shape.cols; ++col, from += bytes) {
    std::uint32_t pixel = 0;
    for (int i = 0; i < bytes; ++i) pixel |= std::uint32_t(from[i]) << 8 * i;
    for (std::size_t c = 0; c < 3; ++c) *to++ = header.fields[c].sample(pixel);
    if (alpha != nullptr) *alpha++ = header.fields[3].sample(pixel);
  }
}

Picture decode(std::span<const std::byte> file, const ImageLimits& limits) {
  Deadline deadline(limits.decode_s);
  const BmpHeader header = parse_header(file);
  check_decode_memory(file.size() + decode_bytes(header), limits);
  Picture picture{Image(header.shape), {}, {}};
  if (header.density.x > 0 && header.density.y > 0) picture.metadata.density = header.density;
  if (header.has_alpha()) picture.alpha = Image(alpha_shape(header.shape));
  const auto cols = std::size_t(header.shape.cols);
  std::vector<std::uint8_t> indices(cols);
  for (std::size_t i = 0; i < std::size_t(header.shape.rows); ++i) {
    if (deadline.passed_now()) deadline.throw_too_large();
    const std::byte* from = file.data() + header.data + i * header.row_bytes();
    const std::size_t row = header.is_top_down ? i : std::size_t(header.shape.rows) - 1 - i;
    auto* to = reinterpret_cast<std::uint8_t*>(picture.pixels.data()) +
               row * cols * std::size_t(header.shape.channels);
    if (!header.palette.empty()) {
      decode_palette_row(header, from, indices, to);
    } else {
      decode_color_row(header, from, to,
                       header.has_alpha()
                           ? reinterpret_cast<std::uint8_t*>(picture.alpha.data()) + row * cols
                           : nullptr);
    }
  }
  return picture;
}

}  // namespace

Codec bmp_codec() { return {ImageFormat::bmp, "bmp", sniff, read_header, decode}; }

}  // namespace eckart::codec
