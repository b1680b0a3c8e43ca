// TIFF and BigTIFF with one page, with libtiff. Source: TIFF 6.0; technical notes of Adobe.
#include <algorithm>
#include <array>
#include <climits>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codec/alpha.hpp"
#include "codec/deadline.hpp"
#include "codec/exif_entries.hpp"
#include "codec/image_codecs.hpp"
#include "codec/metadata_collector.hpp"
#include "codec/orientation.hpp"
#include "codec/tiff_encoder.hpp"
#include "codec/tiff_file.hpp"
#include "codec/tiff_layout.hpp"
#include "codec/tiff_pixels.hpp"
#include "codec/unsupported_formats.hpp"

namespace eckart::codec {
namespace {

bool sniff(std::span<const std::byte> file) {
  using namespace std::string_view_literals;
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  constexpr std::array kMagic{"II*\0"sv, "MM\0*"sv, "II+\0"sv, "MM\0+"sv};  // +: BigTIFF
  return !text.starts_with(kCr2Signature) &&
         std::ranges::any_of(kMagic,
                             [&](std::string_view magic) { return text.starts_with(magic); });
}

/// Returns the memory of decoding besides the file: the pixels, alpha, a row or a tile, the
/// table of them, and a rotated copy.
std::size_t decode_bytes(const TiffLayout& layout) {
  const std::size_t alpha = layout.alpha == TiffAlpha::none ? 0 : alpha_shape(layout.shape).bytes();
  const std::size_t copy = layout.orientation == kNormalOrientation ? 0 : layout.shape.bytes();
  return layout.shape.bytes() + alpha + layout.chunk_bytes + layout.table_bytes + copy;
}

/// libtiff has a copy of the metadata.
Header read_header(FileBytes file) {
  const std::size_t max_metadata = max_stored_metadata(file.size());
  TiffFile tiff(std::move(file));
  const TiffLayout layout = read_tiff_layout(tiff);
  const std::size_t bytes = decode_bytes(layout);
  return {layout.shape, bytes, bytes, layout.alpha != TiffAlpha::none, 2 * max_metadata};
}

/// Returns the value of a tag, in memory of libtiff.
std::span<const std::byte> blob(const TiffFile& tiff, std::uint32_t tag) {
  std::uint32_t size = 0;
  const void* data = nullptr;
  if (TIFFGetField(tiff.get(), tag, &size, &data) == 0) return {};
  return {static_cast<const std::byte*>(data), size};
}

Metadata read_metadata(const TiffFile& tiff, std::span<const std::byte> file,
                       const TiffLayout& layout, std::size_t max_bytes) {
  const auto entries = read_exif_entries(file, max_bytes);
  std::vector<std::byte> exif;
  if (entries) write_exif_entries(*entries, exif);
  Metadata metadata = copy_metadata(
      {.icc = blob(tiff, TIFFTAG_ICCPROFILE), .exif = exif, .xmp = blob(tiff, TIFFTAG_XMLPACKET)},
      max_bytes);
  if (!entries) append_dropped(metadata.dropped, "EXIF", "too large");
  if (metadata.density && layout.orientation > kLastUntransposedOrientation)
    std::swap(metadata.density->x, metadata.density->y);
  return metadata;
}

Picture decode(std::span<const std::byte> file, const ImageLimits& limits) {
  Deadline deadline(limits.decode_s);
  TiffFile tiff{FileBytes(file)};
  const TiffLayout layout = read_tiff_layout(tiff);
  check_decode_memory(file.size() + decode_bytes(layout), limits);
  Picture picture = read_tiff_pixels(tiff, layout, deadline);
  picture = apply_orientation(std::move(picture), layout.orientation);
  picture.metadata = read_metadata(
      tiff, file, layout,
      std::min(max_stored_metadata(file.size()), metadata_room(file.size(), picture, limits)));
  return picture;
}

void check_encodable(const ImageShape&, bool) {}  // TIFF supports every picture

std::vector<std::byte> encode(const PictureView& picture, const EncodeOptions&) {
  return encode_tiff(picture);
}

}  // namespace

std::string tiff_version() {
  const std::string text = TIFFGetVersion();  // "LIBTIFF, Version 4.5.0\n..."
  const std::size_t begin = std::min(text.find_first_of("0123456789"), text.size());
  return text.substr(begin, text.find('\n', begin) - begin);
}

Codec tiff_codec() {
  return {ImageFormat::tiff,       "tif", sniff, read_header, decode, check_encodable, encode,
          {.has_png_color = false}};
}

}  // namespace eckart::codec
