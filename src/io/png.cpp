// PNG: what its header says, and whether the file is whole. ISO/IEC 15948:2003.
#include <zlib.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "io/deadline.hpp"
#include "io/formats.hpp"
#include "io/opencv_codec.hpp"
#include "io/orientation.hpp"
#include "io/spng_decoder.hpp"

namespace eckart::io {
namespace {

constexpr std::string_view kSignature = "\x89PNG\r\n\x1a\n";
enum ColorType { kGray = 0, kRgb = 2, kPalette = 3, kGrayAlpha = 4, kRgbAlpha = 6 };

[[noreturn]] void fail_corrupt(const std::string& why) { throw ItemError(Reason::corrupt, why); }
[[noreturn]] void fail_alpha() {
  throw ItemError(Reason::unsupported, "has an alpha channel; flatten it onto a background first");
}

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::uint32_t big_endian_32(std::span<const std::byte, 4> bytes) {
  std::uint32_t value = 0;
  for (const std::byte byte : bytes) value = value << 8 | std::uint32_t(byte);
  return value;
}

struct Chunk {
  std::string_view type;
  std::span<const std::byte> data;
  std::span<const std::byte> whole;  ///< with length, type and CRC
};

/// The checksum is over type and data.
bool is_intact(const Chunk& chunk) {
  const auto checked = chunk.whole.subspan(4, chunk.whole.size() - 8);
  return ::crc32_z(0, reinterpret_cast<const Bytef*>(checked.data()), checked.size()) ==
         big_endian_32(chunk.whole.last<4>());
}

/// The chunks of a file, in order.
class Chunks {
 public:
  explicit Chunks(std::span<const std::byte> file) : rest_(file.subspan(kSignature.size())) {}

  Chunk next() {
    constexpr std::size_t kAround = 12;  // length and type before the data, CRC after
    if (rest_.size() < kAround) fail_corrupt("truncated: no IEND chunk");
    const std::size_t size = big_endian_32(rest_.first<4>());
    if (size > INT_MAX) fail_corrupt("has a chunk of impossible size");
    if (rest_.size() - kAround < size) fail_corrupt("truncated: ends within a chunk");
    const Chunk chunk{as_text(rest_.subspan(4, 4)), rest_.subspan(8, size),
                      rest_.first(size + kAround)};
    rest_ = rest_.subspan(size + kAround);
    return chunk;
  }

 private:
  std::span<const std::byte> rest_;
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

ImageShape parse_ihdr(const Chunk& chunk) {
  if (chunk.type != "IHDR" || chunk.data.size() != 13) fail_corrupt("has no IHDR chunk");
  const std::uint32_t cols = big_endian_32(chunk.data.first<4>());
  const std::uint32_t rows = big_endian_32(chunk.data.subspan<4, 4>());
  if (cols == 0 || rows == 0 || cols > INT_MAX || rows > INT_MAX) {
    fail_corrupt("announces an impossible size");
  }
  const int bits = int(chunk.data[8]);
  const int color_type = int(chunk.data[9]);
  const bool known_methods = chunk.data[10] == std::byte(0) && chunk.data[11] == std::byte(0) &&
                             chunk.data[12] <= std::byte(1);
  if (!is_color_type(color_type) || !is_depth_of(color_type, bits) || !known_methods) {
    fail_corrupt("announces a kind of image that PNG does not have");
  }
  if (color_type == kGrayAlpha || color_type == kRgbAlpha) fail_alpha();
  return {int(rows), int(cols), color_type == kGray ? 1 : 3, bits == 16 ? Depth::u16 : Depth::u8};
}

ImageShape read_header(std::span<const std::byte> file) {
  if (!sniff(file)) fail_corrupt("has no PNG signature");
  Chunks chunks(file);
  const ImageShape shape = parse_ihdr(chunks.next());
  for (;;) {
    const Chunk chunk = chunks.next();
    if (chunk.type == "tRNS") fail_alpha();
    if (chunk.type == "IDAT") return shape;
    if (chunk.type == "IEND") fail_corrupt("has no IDAT chunk");
  }
}

/// What is of use of a file.
struct Contents {
  std::vector<std::span<const std::byte>> pixels;  ///< the signature, and the chunks for pixels
  int orientation = kUpright;
};

/// Makes the last piece longer where the chunk follows it, since a file may have millions of
/// chunks.
void append(std::vector<std::span<const std::byte>>& pieces, std::span<const std::byte> chunk) {
  std::span<const std::byte>& last = pieces.back();
  if (last.data() + last.size() == chunk.data()) {
    last = {last.data(), last.size() + chunk.size()};
  } else {
    pieces.push_back(chunk);
  }
}

bool is_known(std::string_view critical) {
  return critical == "PLTE" || critical == "IDAT" || critical == "IEND";
}

/// Reads all chunks, so that the file is whole, and knows of few pieces at the end. Bytes after
/// IEND are nobody's business.
Contents read_contents(std::span<const std::byte> file) {
  Contents contents;
  std::string_view last;
  bool has_palette = false, has_pixels = false, has_orientation = false;
  contents.pixels.push_back(file.first(kSignature.size()));
  Chunks chunks(file);
  append(contents.pixels, chunks.next().whole);  // IHDR
  for (;;) {
    const Chunk chunk = chunks.next();
    const bool critical = (chunk.type[0] & 0x20) == 0;
    if (critical) append(contents.pixels, chunk.whole);
    if (chunk.type == "PLTE" && std::exchange(has_palette, true)) fail_corrupt("has two palettes");
    if (chunk.type == "IDAT" && last != "IDAT" && std::exchange(has_pixels, true))
      fail_corrupt("has other chunks between its IDAT chunks");
    if (critical && !is_known(chunk.type))
      fail_corrupt("has a chunk that nobody knows but is needed");
    if (chunk.type == "eXIf" && !std::exchange(has_orientation, true) && is_intact(chunk))
      contents.orientation = exif_orientation(chunk.data);
    if (chunk.type == "IEND") return contents;
    last = chunk.type;
  }
}

Image decode(std::span<const std::byte> file, const Limits& limits) {
  Deadline deadline(limits.decode_s);
  const ImageShape announced = read_header(file);
  const Contents contents = read_contents(file);
  const std::size_t images = contents.orientation == kUpright ? 1 : 2;
  check_decode_memory(file.size() + images * announced.bytes(), limits);
  return turned_upright(decode_with_spng(contents.pixels, announced, deadline),
                        contents.orientation);
}

void check_encodable(const ImageShape&) {}  // it holds whatever an Image can be

std::vector<std::byte> encode(const Image& image, const EncodeOptions&) {
  return encode_png_with_opencv(image);
}

}  // namespace

Codec png_codec() { return {"png", "png", sniff, read_header, decode, check_encodable, encode}; }

}  // namespace eckart::io
