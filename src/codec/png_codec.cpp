// PNG: reads the header and checks that the file is complete. ISO/IEC 15948:2003.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codec/alpha.hpp"
#include "codec/deadline.hpp"
#include "codec/exif.hpp"
#include "codec/image_codecs.hpp"
#include "codec/metadata_collector.hpp"
#include "codec/opencv_decoder.hpp"
#include "codec/orientation.hpp"
#include "codec/png_chunk.hpp"
#include "codec/png_chunk_reader.hpp"
#include "codec/png_encoder.hpp"
#include "codec/png_ihdr.hpp"
#include "codec/png_metadata.hpp"
#include "codec/spng_decoder.hpp"
#include "core/error.hpp"

namespace eckart::codec {
namespace {

bool sniff(std::span<const std::byte> file) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  return text.starts_with(kPngSignature);
}

void check_known(const PngChunk& chunk) {
  if (chunk.is_critical() && chunk.type != "PLTE" && chunk.type != "IDAT" && chunk.type != "IEND")
    fail_corrupt("has an unknown critical chunk");
}

/// What precedes the pixels.
struct PngStart {
  PngIhdr ihdr;
  std::size_t max_metadata_bytes;
  bool has_transparency = false;  ///< has a tRNS chunk

  bool may_have_alpha() const { return ihdr.has_alpha() || has_transparency; }
};

/// Reads the header, and the types of the chunks up to the pixels.
PngStart read_start(FileBytes file) {
  if (!sniff(file.at(0, kPngSignature.size()))) fail_corrupt("has no PNG signature");
  PngChunkReader chunks(file);
  const PngChunk first = chunks.next();
  PngStart start{parse_png_ihdr(first, file.at(first.offset, first.size)),
                 max_stored_metadata(file.size())};
  std::size_t inflated = 0;
  for (PngChunk chunk = chunks.next(); chunk.type != "IDAT"; chunk = chunks.next()) {
    check_known(chunk);
    start.has_transparency |= chunk.type == "tRNS";
    if (chunk.type == "IEND") fail_corrupt("has no IDAT chunk");
    inflated = std::min(inflated + max_inflated_metadata(chunk, file), kMaxInflatedMetadata);
  }
  start.max_metadata_bytes += inflated;
  return start;
}

/// Returns the memory of decoding: pixels, alpha, and either samples with alpha between them or a
/// rotated copy of the pixels.
std::size_t decode_bytes(const ImageShape& shape, bool has_alpha, std::size_t interleaved,
                         bool is_rotated) {
  const std::size_t alpha = has_alpha ? alpha_shape(shape).bytes() : 0;
  return shape.bytes() + alpha + std::max(interleaved, is_rotated ? shape.bytes() : 0);
}

Header read_header(FileBytes file) {
  const PngStart start = read_start(std::move(file));
  const ImageShape shape = start.ihdr.shape();
  const PngAlpha alpha = start.ihdr.has_alpha() ? PngAlpha::channel : PngAlpha::none;
  const bool may_have_palette_alpha =
      start.has_transparency && start.ihdr.color_type == PngColorType::kPalette;
  const PngAlpha max_alpha = may_have_palette_alpha ? PngAlpha::palette : alpha;
  const bool has_alpha = start.ihdr.has_alpha();
  // An EXIF chunk may follow the pixels and require a rotated copy.
  return {shape, decode_bytes(shape, has_alpha, interleaved_bytes(shape, alpha), false),
          decode_bytes(shape, start.may_have_alpha(), interleaved_bytes(shape, max_alpha), true),
          start.may_have_alpha(), start.max_metadata_bytes};
}

/// The parts of a file that affect the image.
struct Contents {
  PngParts parts;
  int orientation = kNormalOrientation;
};

/// Returns a chunk that affects pixels. Throws ItemError(corrupt) if its CRC is wrong.
std::span<const std::byte> checked_chunk(const PngChunk& chunk, std::span<const std::byte> file) {
  const std::span<const std::byte> whole = chunk.whole(file);
  if (!has_valid_crc(whole)) fail_corrupt("has a wrong CRC in the " + chunk.type + " chunk");
  return whole;
}

/// Returns the color that a tRNS chunk of a gray or RGB image makes transparent, as samples of the
/// decoded image. The chunk has 16 bits per sample, of which only the lowest count.
std::vector<std::uint16_t> transparent_color(const PngIhdr& ihdr, std::span<const std::byte> data) {
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
void read_transparency(PngParts& parts, const PngIhdr& ihdr, std::span<const std::byte> whole) {
  const std::span<const std::byte> data = data_of_chunk(whole);
  if (ihdr.has_alpha() || !has_valid_crc(whole)) return;
  if (ihdr.color_type != PngColorType::kPalette) {
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
  PngChunkReader chunks(bytes);
  const PngChunk first = chunks.next();
  const PngIhdr ihdr = parse_png_ihdr(first, file.subspan(first.offset));
  parts.shape = ihdr.shape();
  parts.row_bytes = png_row_bytes(ihdr);
  parts.ihdr = checked_chunk(first, file);
  if (ihdr.has_alpha()) parts.alpha = PngAlpha::channel;
  for (;;) {
    const PngChunk chunk = chunks.next();
    const std::span<const std::byte> whole = chunk.whole(file);
    check_known(chunk);
    if (chunk.type == "PLTE") {
      if (std::exchange(has_palette, true)) fail_corrupt("has two palettes");
      // For other color types, the palette only suggests colors.
      if (ihdr.color_type == PngColorType::kPalette && parts.idat.empty())
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
      contents.orientation = exif_orientation(exif_of_chunk(data_of_chunk(whole)));
    if (chunk.type == "IEND") {
      checked_chunk(chunk, file);
      if (chunk.size != 0) fail_corrupt("has an IEND chunk that is not empty");
      return contents;
    }
    last = chunk.type;
  }
}

Picture decode(std::span<const std::byte> file, const ImageLimits& limits) {
  Deadline deadline(limits.decode_s);
  const auto [parts, orientation] = read_contents(file);
  const bool has_alpha = parts.alpha != PngAlpha::none || !parts.transparent_color.empty();
  check_decode_memory(file.size() + decode_bytes(parts.shape, has_alpha,
                                                 interleaved_bytes(parts.shape, parts.alpha),
                                                 orientation != kNormalOrientation),
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
  const PngStart start = read_start(std::move(file));
  const ImageShape shape = start.ihdr.shape();
  const auto bytes = [&](bool has_alpha) {
    const std::size_t decoded = has_alpha ? opencv_alpha_bytes(shape) : shape.bytes();
    return copy + decode_bytes(shape, has_alpha, decoded, true);
  };
  return {shape, bytes(start.ihdr.has_alpha()), bytes(start.may_have_alpha()),
          start.may_have_alpha(), start.max_metadata_bytes};
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
  keep(file.first(kPngSignature.size()));
  bool has_transparency = false, has_orientation = false;
  FileBytes bytes(file);
  PngChunkReader chunks(bytes);
  const PngChunk first = chunks.next();
  const PngIhdr ihdr = parse_png_ihdr(first, file.subspan(first.offset));
  parts.shape = ihdr.shape();
  if (ihdr.has_alpha()) parts.alpha = PngAlpha::channel;
  keep(first.whole(file));
  while (chunks.has_next()) {
    const PngChunk chunk = chunks.next();
    const std::span<const std::byte> whole = chunk.whole(file);
    const bool is_palette = chunk.type == "PLTE";
    if (is_palette && ihdr.color_type == PngColorType::kPalette) parts.palette = whole;
    if (chunk.is_critical() && (!is_palette || ihdr.color_type == PngColorType::kPalette))
      keep(whole);
    if (chunk.type == "IDAT") parts.idat = whole;
    if (chunk.type == "tRNS" && parts.idat.empty() && !std::exchange(has_transparency, true)) {
      read_transparency(parts, ihdr, whole);
      keep(parts.transparency);  // of a palette; OpenCV 4.6 ignores others
    }
    if (chunk.type == "eXIf" && !std::exchange(has_orientation, true) && has_valid_crc(whole))
      result.orientation = exif_orientation(exif_of_chunk(data_of_chunk(whole)));
    if (chunk.type == "IEND") break;
  }
  return result;
}

Picture decode_by_opencv(std::span<const std::byte> file, const ImageLimits& limits) {
  Deadline deadline(limits.decode_s);
  const Header header = read_header_for_opencv(file);
  const auto [chunks, parts, orientation] = pixel_chunks(file);
  const bool has_alpha = parts.alpha != PngAlpha::none || !parts.transparent_color.empty();
  const std::size_t decoded =
      parts.alpha == PngAlpha::none ? header.shape.bytes() : opencv_alpha_bytes(header.shape);
  check_decode_memory(
      file.size() + chunks.size() + decode_bytes(header.shape, has_alpha, decoded, true), limits);
  return apply_orientation(
      decode_with_opencv(chunks, header.shape, deadline, parts.transparent_color), orientation);
}

void check_encodable(const ImageShape& shape, bool) { check_depth("PNG", shape.depth, Depth::u16); }

/// Decodes with `decode_pixels`, and adds the metadata.
template <auto decode_pixels>
Picture decode_all(std::span<const std::byte> file, const ImageLimits& limits) {
  Picture picture = decode_pixels(file, limits);
  picture.metadata = read_png_metadata(file, std::min(read_start(file).max_metadata_bytes,
                                                      metadata_room(file.size(), picture, limits)));
  return picture;
}

std::vector<std::byte> encode(const PictureView& picture, const EncodeOptions& options) {
  check_encodable(picture.pixels.shape(), picture.has_alpha());
  return encode_png(picture, options.png);
}

}  // namespace

Codec png_codec(Decoder decoder) {
  const bool strict = decoder == Decoder::strict;
  return {ImageFormat::png,
          "png",
          sniff,
          strict ? read_header : read_header_for_opencv,
          strict ? decode_all<decode> : decode_all<decode_by_opencv>,
          check_encodable,
          encode};
}

}  // namespace eckart::codec
