// PNG: reads the header and checks that the file is complete. ISO/IEC 15948:2003.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codec/alpha.hpp"
#include "codec/deadline.hpp"
#include "codec/encoded_png.hpp"
#include "codec/exif.hpp"
#include "codec/image_codecs.hpp"
#include "codec/libdeflate_decoder.hpp"
#include "codec/metadata_collector.hpp"
#include "codec/opencv_decoder.hpp"
#include "codec/orientation.hpp"
#include "codec/png_chunk.hpp"
#include "codec/png_chunk_reader.hpp"
#include "codec/png_chunk_writer.hpp"
#include "codec/png_contents.hpp"
#include "codec/png_encoder.hpp"
#include "codec/png_ihdr.hpp"
#include "codec/png_metadata.hpp"
#include "codec/spng_decoder.hpp"
#include "core/error.hpp"
#include "core/mebibytes.hpp"

namespace eckart::codec {
namespace {

bool sniff(std::span<const std::byte> file) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  return text.starts_with(kPngSignature);
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
    check_known_png_chunk(chunk);
    start.has_transparency |= chunk.type == "tRNS";
    if (chunk.type == "IEND") fail_corrupt("has no IDAT chunk");
    inflated = std::min(inflated + max_inflated_metadata(chunk, file), kMaxInflatedMetadata);
  }
  start.max_metadata_bytes += inflated;
  return start;
}

/// Returns the memory of decoding with libspng: pixels, alpha, and either samples with alpha
/// between them or a rotated copy of the pixels.
std::size_t decode_bytes(const ImageShape& shape, bool has_alpha, std::size_t interleaved,
                         bool is_rotated) {
  const std::size_t alpha = has_alpha ? alpha_shape(shape).bytes() : 0;
  return shape.bytes() + alpha + std::max(interleaved, is_rotated ? shape.bytes() : 0);
}

/// The maximum is that of libdeflate, which copies the stream if it is in several chunks. If it
/// does not fit into the limit, libspng decodes.
Header read_header(FileBytes file) {
  const std::size_t file_bytes = file.size();
  const PngStart start = read_start(std::move(file));
  const ImageShape shape = start.ihdr.shape();
  const PngAlpha alpha = start.ihdr.has_alpha() ? PngAlpha::channel : PngAlpha::none;
  const bool may_have_palette_alpha =
      start.has_transparency && start.ihdr.color_type == PngColorType::kPalette;
  const PngAlpha max_alpha = may_have_palette_alpha ? PngAlpha::palette : alpha;
  const bool has_alpha = start.ihdr.has_alpha();
  // An EXIF chunk may follow the pixels and require a rotated copy.
  std::size_t max_bytes =
      decode_bytes(shape, start.may_have_alpha(), interleaved_bytes(shape, max_alpha), true);
  if (start.ihdr.has_whole_samples()) {
    const std::size_t row_bytes = png_row_bytes(start.ihdr);
    const LibdeflateInput input{shape, row_bytes, has_alpha, start.may_have_alpha(),
                                std::min(file_bytes, max_idat_bytes(row_bytes))};
    max_bytes = std::max(max_bytes, libdeflate_decode_bytes(input, true));
  }
  return {shape, decode_bytes(shape, has_alpha, interleaved_bytes(shape, alpha), false), max_bytes,
          start.may_have_alpha(), start.max_metadata_bytes};
}

std::size_t libdeflate_bytes(const PngParts& parts, bool is_rotated) {
  const bool has_several =
      !parts.idat.empty() && first_chunk(parts.idat).size() < parts.idat.size();
  return libdeflate_decode_bytes({parts.shape, parts.row_bytes, parts.alpha == PngAlpha::channel,
                                  parts.has_alpha(), has_several ? parts.idat.size() : 0},
                                 is_rotated);
}

Picture decode(std::span<const std::byte> file, const ImageLimits& limits) {
  Deadline deadline(limits.decode_s);
  const auto [parts, orientation] = read_png_contents(file);
  const bool is_rotated = orientation != kNormalOrientation;
  check_decode_memory(
      file.size() + decode_bytes(parts.shape, parts.has_alpha(),
                                 interleaved_bytes(parts.shape, parts.alpha), is_rotated),
      limits);
  std::optional<Picture> picture;
  if (in_mebibytes(file.size() + libdeflate_bytes(parts, is_rotated)) <= limits.decode_mb)
    picture = decode_with_libdeflate(parts, deadline);
  if (!picture) picture = decode_with_spng(parts, deadline);
  return apply_orientation(std::move(*picture), orientation);
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
  const auto keep = [&](std::span<const std::byte> bytes) { append(result.file, bytes); };
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
      read_png_transparency(parts, ihdr, whole);
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
  const std::size_t decoded =
      parts.alpha == PngAlpha::none ? header.shape.bytes() : opencv_alpha_bytes(header.shape);
  check_decode_memory(
      file.size() + chunks.size() + decode_bytes(header.shape, parts.has_alpha(), decoded, true),
      limits);
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

/// A turned image is decoded here, because its pixels are moved.
std::optional<UndecodedPicture> read_undecoded(std::span<const std::byte> file,
                                               const ImageLimits& limits) {
  const auto [parts, orientation] = read_png_contents(file);
  if (orientation != kNormalOrientation) return std::nullopt;
  std::optional<png::EncodedImage> encoded = read_encoded_png(parts);
  if (!encoded) return std::nullopt;
  Picture picture{Image(parts.shape), {}, {}};
  picture.metadata = read_png_metadata(file, std::min(read_start(file).max_metadata_bytes,
                                                      metadata_room(file.size(), picture, limits)));
  return UndecodedPicture{std::move(picture), std::move(*encoded)};
}

std::vector<std::byte> encode(const PictureView& picture, const EncodeOptions& options) {
  check_encodable(picture.pixels.shape(), picture.has_alpha());
  return encode_png(picture, options.png);
}

HeadAndTail encode_head_and_tail(const PictureView& picture, const EncodeOptions&) {
  check_encodable(picture.pixels.shape(), picture.has_alpha());
  return encode_png_head_and_tail(picture);
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
          encode,
          {},
          strict ? read_undecoded : nullptr,
          encode_head_and_tail};
}

}  // namespace eckart::codec
