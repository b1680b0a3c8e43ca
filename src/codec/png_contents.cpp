#include "codec/png_contents.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "codec/exif.hpp"
#include "codec/image_codecs.hpp"
#include "codec/png_chunk.hpp"
#include "codec/png_metadata.hpp"

namespace eckart::codec {
namespace {

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

}  // namespace

void check_known_png_chunk(const PngChunk& chunk) {
  if (chunk.type == "IHDR") fail_corrupt("has two IHDR chunks");
  if (chunk.is_critical() && chunk.type != "PLTE" && chunk.type != "IDAT" && chunk.type != "IEND")
    fail_corrupt("has an unknown critical chunk");
}

void read_png_transparency(PngParts& parts, const PngIhdr& ihdr, std::span<const std::byte> whole) {
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

PngContents read_png_contents(std::span<const std::byte> file) {
  PngContents contents;
  PngParts& parts = contents.parts;
  std::string last;
  bool has_palette = false, has_transparency = false, has_orientation = false;
  FileBytes bytes(file);
  PngChunkReader chunks(bytes);
  const PngChunk first = chunks.next();
  const PngIhdr ihdr = parse_png_ihdr(first, file.subspan(first.offset));
  parts.shape = ihdr.shape();
  parts.row_bytes = png_row_bytes(ihdr);
  if (ihdr.has_whole_samples()) parts.pixel_bytes = ihdr.pixel_bytes();
  parts.ihdr = checked_chunk(first, file);
  if (ihdr.has_alpha()) parts.alpha = PngAlpha::channel;
  for (;;) {
    const PngChunk chunk = chunks.next();
    const std::span<const std::byte> whole = chunk.whole(file);
    check_known_png_chunk(chunk);
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
      read_png_transparency(parts, ihdr, whole);
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

}  // namespace eckart::codec
