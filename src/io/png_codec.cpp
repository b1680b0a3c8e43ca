// PNG: reads the header and checks that the file is complete. ISO/IEC 15948:2003.
#include <algorithm>
#include <array>
#include <climits>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "io/deadline.hpp"
#include "io/image_codecs.hpp"
#include "io/opencv_codec.hpp"
#include "io/opencv_decoder.hpp"
#include "io/orientation.hpp"
#include "io/png_chunk.hpp"
#include "io/spng_decoder.hpp"

namespace eckart::io {
namespace {

constexpr std::string_view kSignature = "\x89PNG\r\n\x1a\n";
enum ColorType { kGray = 0, kRgb = 2, kPalette = 3, kGrayAlpha = 4, kRgbAlpha = 6 };

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct Chunk {
  std::string type;
  std::size_t offset = 0, size = 0;  ///< of the data, in the file

  bool is_critical() const { return (type[0] & 0x20) == 0; }

  /// Returns the chunk with length, type and CRC.
  std::span<const std::byte> whole(std::span<const std::byte> file) const {
    return file.subspan(offset - 8, size + 12);
  }
};

/// The chunks of a file, in order. Does not read their data.
class Chunks {
 public:
  explicit Chunks(FileBytes& file) : file_(file) {}

  /// Returns whether the next chunk is complete.
  bool has_next() {
    const std::span<const std::byte> head = file_.at(offset_, 8);
    const std::size_t rest = file_.size() - std::min(offset_, file_.size());
    return head.size() >= 8 && rest >= kChunkOverheadBytes &&
           big_endian_32(head.first<4>()) <=
               std::min<std::size_t>(rest - kChunkOverheadBytes, INT_MAX);
  }

  Chunk next() {
    const std::span<const std::byte> head = file_.at(offset_, 8);
    const std::size_t rest = file_.size() - std::min(offset_, file_.size());
    if (rest < kChunkOverheadBytes || head.size() < 8) fail_corrupt("truncated: no IEND chunk");
    const std::size_t size = big_endian_32(head.first<4>());
    if (size > INT_MAX) fail_corrupt("has a chunk with an invalid size");
    if (rest - kChunkOverheadBytes < size) fail_corrupt("truncated: the file ends inside a chunk");
    Chunk chunk{std::string(as_text(head.subspan(4, 4))), offset_ + 8, size};
    offset_ += size + kChunkOverheadBytes;
    return chunk;
  }

 private:
  // Length and type before the data, CRC after it.
  static constexpr std::size_t kChunkOverheadBytes = 12;

  FileBytes& file_;
  std::size_t offset_ = kSignature.size();
};

bool sniff(std::span<const std::byte> file) { return as_text(file).starts_with(kSignature); }

bool is_color_type(int type) {
  return type == kGray || type == kRgb || type == kPalette || type == kGrayAlpha ||
         type == kRgbAlpha;
}

bool is_depth_of(int color_type, int bits) {
  if (bits == 8) return true;
  if (bits == 16) return color_type != kPalette;
  return (bits == 1 || bits == 2 || bits == 4) && (color_type == kGray || color_type == kPalette);
}

void check_known(const Chunk& chunk) {
  if (chunk.is_critical() && chunk.type != "PLTE" && chunk.type != "IDAT" && chunk.type != "IEND")
    fail_corrupt("has an unknown critical chunk");
}

/// The contents of IHDR.
struct Ihdr {
  int rows = 0, cols = 0, bits = 0, color_type = 0;
  bool interlaced = false;

  bool has_alpha() const { return color_type == kGrayAlpha || color_type == kRgbAlpha; }
  /// Returns the number of channels in the file, including alpha.
  int channels() const {
    constexpr std::array<int, 7> kChannels{1, 0, 3, 1, 2, 0, 4};  // by color type
    return kChannels[std::size_t(color_type)];
  }
  ImageShape shape() const {
    const bool gray = color_type == kGray || color_type == kGrayAlpha;
    return {rows, cols, gray ? 1 : 3, bits == 16 ? Depth::u16 : Depth::u8};
  }
};

Ihdr parse_ihdr(const Chunk& chunk, std::span<const std::byte> data) {
  constexpr std::size_t kSize = 13;
  if (chunk.type != "IHDR" || chunk.size != kSize || data.size() < kSize)
    fail_corrupt("has no IHDR chunk");
  const std::uint32_t cols = big_endian_32(data.first<4>());
  const std::uint32_t rows = big_endian_32(data.subspan<4, 4>());
  if (cols == 0 || rows == 0 || cols > INT_MAX || rows > INT_MAX) {
    fail_corrupt("declares an invalid image size");
  }
  const Ihdr ihdr{int(rows), int(cols), int(data[8]), int(data[9]), data[12] == std::byte(1)};
  const bool known_methods =
      data[10] == std::byte(0) && data[11] == std::byte(0) && data[12] <= std::byte(1);
  if (!is_color_type(ihdr.color_type) || !is_depth_of(ihdr.color_type, ihdr.bits) ||
      !known_methods) {
    fail_corrupt("declares an invalid color type, bit depth or method");
  }
  return ihdr;
}

/// Returns the inflated size of all rows with their filter bytes.
std::size_t row_bytes(const Ihdr& ihdr) {
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

/// Reads the header, and the types of the chunks up to the pixels.
Ihdr read_ihdr(FileBytes file) {
  if (!sniff(file.at(0, kSignature.size()))) fail_corrupt("has no PNG signature");
  Chunks chunks(file);
  const Chunk first = chunks.next();
  const Ihdr ihdr = parse_ihdr(first, file.at(first.offset, first.size));
  for (Chunk chunk = chunks.next(); chunk.type != "IDAT"; chunk = chunks.next()) {
    check_known(chunk);
    if (chunk.type == "IEND") fail_corrupt("has no IDAT chunk");
  }
  return ihdr;
}

Header read_header(FileBytes file) {
  const Ihdr ihdr = read_ihdr(std::move(file));
  const ImageShape shape = ihdr.shape();
  const std::size_t pixels = shape.bytes();
  const PngAlpha alpha = ihdr.has_alpha() ? PngAlpha::channel : PngAlpha::none;
  const PngAlpha max_alpha = ihdr.color_type == kPalette ? PngAlpha::palette : alpha;
  // An EXIF chunk may follow the pixels and require a rotated copy.
  return {shape, pixels + alpha_bytes(shape, alpha),
          pixels + std::max(pixels, alpha_bytes(shape, max_alpha))};
}

/// The parts of a file that affect the image.
struct Contents {
  PngParts parts;
  int orientation = kNormalOrientation;
};

/// Returns a chunk that affects pixels. Throws ItemError(corrupt) if its CRC is wrong.
std::span<const std::byte> checked_chunk(const Chunk& chunk, std::span<const std::byte> file) {
  const std::span<const std::byte> whole = chunk.whole(file);
  if (!has_valid_crc(whole)) fail_corrupt("has a wrong CRC in the " + chunk.type + " chunk");
  return whole;
}

/// Returns the color that a tRNS chunk of a gray or RGB image makes transparent, as samples of the
/// decoded image. The chunk has 16 bits per sample, of which only the lowest count.
std::vector<std::uint16_t> transparent_color(const Ihdr& ihdr, std::span<const std::byte> data) {
  const int peak_of_file = (1 << ihdr.bits) - 1;
  const int scale = peak(ihdr.shape().depth) / peak_of_file;
  std::vector<std::uint16_t> color;
  for (std::size_t i = 0; i + 1 < data.size(); i += 2) {
    const int value = int(data[i]) << 8 | int(data[i + 1]);
    color.push_back(std::uint16_t((value & peak_of_file) * scale));
  }
  return color;
}

/// Ignores an invalid chunk, as libpng does.
void read_transparency(PngParts& parts, const Ihdr& ihdr, std::span<const std::byte> whole) {
  const std::span<const std::byte> data = data_of_chunk(whole);
  if (ihdr.has_alpha() || !has_valid_crc(whole)) return;
  if (ihdr.color_type != kPalette) {
    if (data.size() == 2 * std::size_t(ihdr.channels()))
      parts.transparent_color = transparent_color(ihdr, data);
    return;
  }
  const std::size_t colors = parts.palette.empty() ? 0 : data_of_chunk(parts.palette).size() / 3;
  const bool opaque = std::all_of(data.begin(), data.end(),
                                  [](std::byte alpha) { return alpha == std::byte(0xFF); });
  if (opaque || data.size() > colors) return;
  parts.alpha = PngAlpha::palette;
  parts.transparency = whole;
}

/// Reads all chunks and checks that the file is complete. Ignores bytes after IEND.
Contents read_contents(std::span<const std::byte> file) {
  Contents contents;
  PngParts& parts = contents.parts;
  std::string last;
  bool has_palette = false, has_transparency = false, has_orientation = false;
  FileBytes bytes(file);
  Chunks chunks(bytes);
  const Chunk first = chunks.next();
  const Ihdr ihdr = parse_ihdr(first, file.subspan(first.offset));
  parts.shape = ihdr.shape();
  parts.row_bytes = row_bytes(ihdr);
  parts.ihdr = checked_chunk(first, file);
  if (ihdr.has_alpha()) parts.alpha = PngAlpha::channel;
  for (;;) {
    const Chunk chunk = chunks.next();
    const std::span<const std::byte> whole = chunk.whole(file);
    check_known(chunk);
    if (chunk.type == "PLTE") {
      if (std::exchange(has_palette, true)) fail_corrupt("has two palettes");
      // For other color types, the palette only suggests colors.
      if (ihdr.color_type == kPalette && parts.idat.empty())
        parts.palette = checked_chunk(chunk, file);
    }
    if (chunk.type == "IDAT") {
      if (last != "IDAT" && !parts.idat.empty())
        fail_corrupt("has other chunks between its IDAT chunks");
      const std::byte* begin = parts.idat.empty() ? whole.data() : parts.idat.data();
      parts.idat = {begin, whole.data() + whole.size()};
    }
    if (chunk.type == "tRNS" && parts.idat.empty() && !std::exchange(has_transparency, true))
      read_transparency(parts, ihdr, whole);
    if (chunk.type == "eXIf" && !std::exchange(has_orientation, true) && has_valid_crc(whole))
      contents.orientation = exif_orientation(data_of_chunk(whole));
    if (chunk.type == "IEND") {
      checked_chunk(chunk, file);
      if (chunk.size != 0) fail_corrupt("has an IEND chunk that is not empty");
      return contents;
    }
    last = chunk.type;
  }
}

Image decode(std::span<const std::byte> file, const ImageLimits& limits) {
  Deadline deadline(limits.decode_s);
  const std::size_t pixels = read_header(file).shape.bytes();
  const auto [parts, orientation] = read_contents(file);
  const std::size_t copy = orientation == kNormalOrientation ? 0 : pixels;
  check_decode_memory(file.size() + pixels + std::max(copy, alpha_bytes(parts.shape, parts.alpha)),
                      limits);
  return apply_orientation(decode_with_spng(parts, deadline), orientation);
}

/// Returns the memory that OpenCV uses for blue, green, red and alpha.
std::size_t opencv_alpha_bytes(const ImageShape& shape) {
  return shape.bytes() / std::size_t(shape.channels) * 4;
}

/// Includes the memory of a copy of the file: see pixel_chunks().
Header read_header_for_opencv(FileBytes file) {
  const std::size_t copy = file.size();
  const Ihdr ihdr = read_ihdr(std::move(file));
  const ImageShape shape = ihdr.shape();
  const std::size_t pixels = shape.bytes(), alpha = opencv_alpha_bytes(shape);
  const bool may_have_alpha = ihdr.has_alpha() || ihdr.color_type == kPalette;
  return {shape, copy + pixels + (ihdr.has_alpha() ? alpha : pixels),
          copy + pixels + (may_have_alpha ? alpha : pixels)};
}

/// A file for OpenCV, and the contents of the chunks that were removed from it.
struct PixelChunks {
  std::vector<std::byte> file;
  PngParts parts;
  int orientation = kNormalOrientation;
};

/// Copies the chunks that affect pixels. Other chunks are removed because libpng would inflate
/// texts and profiles, 8 MB for each of a thousand chunks, and OpenCV 4.11 would play an animation.
PixelChunks pixel_chunks(std::span<const std::byte> file) {
  PixelChunks result;
  PngParts& parts = result.parts;
  result.file.reserve(file.size());
  const auto keep = [&](std::span<const std::byte> bytes) {
    result.file.insert(result.file.end(), bytes.begin(), bytes.end());
  };
  keep(file.first(kSignature.size()));
  bool has_transparency = false, has_orientation = false;
  FileBytes bytes(file);
  Chunks chunks(bytes);
  const Chunk first = chunks.next();
  const Ihdr ihdr = parse_ihdr(first, file.subspan(first.offset));
  parts.shape = ihdr.shape();
  if (ihdr.has_alpha()) parts.alpha = PngAlpha::channel;
  keep(first.whole(file));
  while (chunks.has_next()) {
    const Chunk chunk = chunks.next();
    const std::span<const std::byte> whole = chunk.whole(file);
    const bool is_palette = chunk.type == "PLTE";
    if (is_palette && ihdr.color_type == kPalette) parts.palette = whole;
    if (chunk.is_critical() && (!is_palette || ihdr.color_type == kPalette)) keep(whole);
    if (chunk.type == "IDAT") parts.idat = whole;
    if (chunk.type == "tRNS" && parts.idat.empty() && !std::exchange(has_transparency, true)) {
      read_transparency(parts, ihdr, whole);
      keep(parts.transparency);  // of a palette; OpenCV 4.6 ignores others
    }
    if (chunk.type == "eXIf" && !std::exchange(has_orientation, true) && has_valid_crc(whole))
      result.orientation = exif_orientation(data_of_chunk(whole));
    if (chunk.type == "IEND") break;
  }
  return result;
}

Image decode_by_opencv(std::span<const std::byte> file, const ImageLimits& limits) {
  Deadline deadline(limits.decode_s);
  const Header header = read_header_for_opencv(file);
  const auto [chunks, parts, orientation] = pixel_chunks(file);
  const std::size_t pixels = header.shape.bytes();
  const std::size_t decoded =
      parts.alpha == PngAlpha::none ? pixels : opencv_alpha_bytes(header.shape);
  check_decode_memory(file.size() + chunks.size() + decoded + pixels, limits);
  Image image = decode_with_opencv(chunks, header.shape, deadline, parts.transparent_color);
  return apply_orientation(std::move(image), orientation);
}

void check_encodable(const ImageShape&) {}  // PNG supports every Image

std::vector<std::byte> encode(const Image& image, const EncodeOptions&) {
  return encode_png_with_opencv(image);
}

}  // namespace

Codec png_codec(Decoder decoder) {
  const bool strict = decoder == Decoder::strict;
  return {ImageFormat::png,
          "png",
          sniff,
          strict ? read_header : read_header_for_opencv,
          strict ? decode : decode_by_opencv,
          check_encodable,
          encode};
}

}  // namespace eckart::io
