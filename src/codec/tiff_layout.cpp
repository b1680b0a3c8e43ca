#include "codec/tiff_layout.hpp"

#include <algorithm>
#include <climits>
#include <string>

#include "codec/image_codecs.hpp"

namespace eckart::codec {
namespace {

/// Returns the value of a tag with one value, or its default in the standard.
template <class T>
T field(const TiffFile& tiff, std::uint32_t tag, T missing = 0) {
  T value = 0;
  return TIFFGetFieldDefaulted(tiff.get(), tag, &value) != 0 ? value : missing;
}

constexpr int kLinearRaw = 34892;  // photometric interpretation of DNG

/// Throws if the file is of a kind that only begins as a TIFF.
void check_not_raw(const TiffFile& tiff, int photometric) {
  std::uint8_t* version = nullptr;
  const bool is_dng = TIFFGetField(tiff.get(), TIFFTAG_DNGVERSION, &version) != 0;
  if (is_dng || photometric == PHOTOMETRIC_CFA || photometric == kLinearRaw)
    fail_unsupported("DNG (camera raw)");
  if ((field<std::uint32_t>(tiff, TIFFTAG_SUBFILETYPE) & FILETYPE_REDUCEDIMAGE) != 0)
    fail_unsupported("has a preview as its first page, as camera raw files have");
}

/// Throws if there are pages beside the first. Previews and masks do not count.
void check_one_page(TiffFile& tiff) {
  constexpr int kMaxPages = 1000;
  constexpr std::uint32_t kNoPage = FILETYPE_REDUCEDIMAGE | FILETYPE_MASK;
  int pages = 1, directories = 1;
  while (directories < kMaxPages && TIFFReadDirectory(tiff.get()) != 0) {
    ++directories;
    if ((field<std::uint32_t>(tiff, TIFFTAG_SUBFILETYPE) & kNoPage) == 0) ++pages;
  }
  tiff.check(true);
  if (pages > 1)
    fail_unsupported("has " + std::string(directories == kMaxPages ? "at least " : "") +
                     std::to_string(pages) + " pages; save each as a file of its own");
  tiff.check(TIFFSetDirectory(tiff.get(), 0) != 0);
}

void check_compression(const TiffFile& tiff) {
  const int compression = field<std::uint16_t>(tiff, TIFFTAG_COMPRESSION, COMPRESSION_NONE);
  switch (compression) {
    case COMPRESSION_NONE:
    case COMPRESSION_LZW:
    case COMPRESSION_DEFLATE:
    case COMPRESSION_ADOBE_DEFLATE:
    case COMPRESSION_PACKBITS:
    case COMPRESSION_CCITTRLE:
    case COMPRESSION_CCITTFAX3:
    case COMPRESSION_CCITTFAX4:
    case COMPRESSION_JPEG:
    case COMPRESSION_ZSTD:
      if (TIFFIsCODECConfigured(std::uint16_t(compression)) != 0) return;
  }
  fail_unsupported("has TIFF compression " + std::to_string(compression) +
                   "; save it with LZW or Deflate");
}

/// Returns whether the samples are float32. Throws if they are neither that nor unsigned integers.
bool has_float_samples(const TiffFile& tiff) {
  const int format = field<std::uint16_t>(tiff, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT);
  const std::string bits =
      std::to_string(field<std::uint16_t>(tiff, TIFFTAG_BITSPERSAMPLE, 1)) + "-bit ";
  if (format == SAMPLEFORMAT_IEEEFP) {
    if (bits == "32-bit ") return true;
    fail_unsupported("has " + bits + "floating point samples; convert it to 32 bits first");
  }
  if (format != SAMPLEFORMAT_UINT)
    fail_unsupported("has " + bits + (format == SAMPLEFORMAT_INT ? "signed" : "unknown") +
                     " samples; convert it to unsigned 8 or 16 bits first");
  return false;
}

/// Sets channels, inversion and the way in which colors are decoded.
void read_colors(TiffFile& tiff, TiffLayout& layout, int photometric) {
  const bool is_jpeg = field<std::uint16_t>(tiff, TIFFTAG_COMPRESSION) == COMPRESSION_JPEG;
  layout.shape.channels = 3;
  switch (photometric) {
    case PHOTOMETRIC_MINISWHITE:
    case PHOTOMETRIC_MINISBLACK:
      layout.shape.channels = 1;
      layout.is_inverted = photometric == PHOTOMETRIC_MINISWHITE;
      return;
    case PHOTOMETRIC_RGB:
    case PHOTOMETRIC_PALETTE:
      return;
    case PHOTOMETRIC_YCBCR:
      if (!is_jpeg) fail_unsupported("has YCbCr samples; convert it to RGB first");
      tiff.check(TIFFSetField(tiff.get(), TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB) != 0);
      return;
    case PHOTOMETRIC_SEPARATED:
      fail_unsupported("has CMYK colors; convert it to RGB first");
    case PHOTOMETRIC_CIELAB:
    case PHOTOMETRIC_ICCLAB:
    case PHOTOMETRIC_ITULAB:
      fail_unsupported("has Lab colors; convert it to RGB first");
    default:
      fail_unsupported("has photometric interpretation " + std::to_string(photometric));
  }
}

void read_alpha(const TiffFile& tiff, TiffLayout& layout, bool has_palette) {
  const int colors = has_palette ? 1 : layout.shape.channels;
  const int samples = field<std::uint16_t>(tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
  std::uint16_t count = 0;
  const std::uint16_t* types = nullptr;
  TIFFGetFieldDefaulted(tiff.get(), TIFFTAG_EXTRASAMPLES, &count, &types);
  if (samples < colors) fail_corrupt("has too few samples per pixel");
  if (samples == colors && count == 0) return;
  const bool is_alpha = samples == colors + 1 && count == 1 && types[0] != EXTRASAMPLE_UNSPECIFIED;
  if (!is_alpha || has_palette || layout.bits < 8)
    fail_unsupported("has " + std::to_string(samples) +
                     " samples per pixel, of which not all are colors or alpha");
  layout.alpha =
      types[0] == EXTRASAMPLE_ASSOCALPHA ? TiffAlpha::associated : TiffAlpha::unassociated;
}

void read_float_samples(TiffLayout& layout, int photometric) {
  if (layout.is_inverted || photometric == PHOTOMETRIC_PALETTE)
    fail_unsupported(
        "has floating point samples of which 0 is white, or that are colors of a "
        "palette");
  layout.bits = 32;
  layout.shape.depth = Depth::f32;
}

void read_bits(const TiffFile& tiff, TiffLayout& layout, int photometric) {
  layout.bits = field<std::uint16_t>(tiff, TIFFTAG_BITSPERSAMPLE, 1);
  const bool is_narrow = layout.bits == 1 || layout.bits == 2 || layout.bits == 4;
  const bool has_palette = photometric == PHOTOMETRIC_PALETTE;
  const bool is_read = layout.bits == 8 || (layout.bits == 16 && !has_palette) ||
                       (is_narrow && (has_palette || layout.shape.channels == 1));
  if (!is_read)
    fail_unsupported("has " + std::to_string(layout.bits) +
                     " bits per sample; convert it to 8 or 16 bits first");
  layout.shape.depth = layout.bits == 16 ? Depth::u16 : Depth::u8;
}

/// The entries have 16 bits, but all or none of their lower bytes count: some programs write 8
/// bits.
void read_palette(TiffFile& tiff, TiffLayout& layout) {
  std::array<std::uint16_t*, 3> colors{};
  if (TIFFGetField(tiff.get(), TIFFTAG_COLORMAP, &colors[0], &colors[1], &colors[2]) == 0)
    fail_corrupt("has no palette");
  const std::size_t count = std::size_t(1) << layout.bits;
  const bool has_16_bits = std::ranges::any_of(colors, [&](const std::uint16_t* color) {
    return std::any_of(color, color + count, [](std::uint16_t value) { return value > 255; });
  });
  for (std::size_t i = 0; i < count; ++i) {
    std::array<std::uint8_t, 3> entry{};
    for (std::size_t c = 0; c < 3; ++c)
      entry[c] = std::uint8_t(has_16_bits ? colors[c][i] >> 8 : colors[c][i]);
    layout.palette.push_back(entry);
  }
}

void read_storage(TiffFile& tiff, TiffLayout& layout) {
  layout.is_planar = layout.samples() > 1 &&
                     field<std::uint16_t>(tiff, TIFFTAG_PLANARCONFIG) == PLANARCONFIG_SEPARATE;
  if (TIFFIsTiled(tiff.get()) != 0) {
    const auto rows = field<std::uint32_t>(tiff, TIFFTAG_TILELENGTH);
    const auto cols = field<std::uint32_t>(tiff, TIFFTAG_TILEWIDTH);
    if (rows == 0 || cols == 0 || rows > INT_MAX || cols > INT_MAX)
      fail_corrupt("declares an invalid tile size");
    layout.tile_rows = int(rows);
    layout.tile_cols = int(cols);
  }
  const tmsize_t bytes =
      TIFFIsTiled(tiff.get()) != 0 ? TIFFTileSize(tiff.get()) : TIFFScanlineSize(tiff.get());
  if (bytes <= 0) fail_corrupt("declares an invalid size of rows or tiles");
  layout.chunk_bytes = std::size_t(bytes);
  // 8 bytes each for offset and size, and 8 while they are read.
  const std::uint32_t chunks =
      TIFFIsTiled(tiff.get()) != 0 ? TIFFNumberOfTiles(tiff.get()) : TIFFNumberOfStrips(tiff.get());
  layout.table_bytes = 24 * std::size_t(chunks);
  // libtiff copies the compressed data if it reverses their bits.
  if (field<std::uint16_t>(tiff, TIFFTAG_FILLORDER, FILLORDER_MSB2LSB) == FILLORDER_LSB2MSB)
    layout.chunk_bytes += std::size_t(TIFFGetSizeProc(tiff.get())(TIFFClientdata(tiff.get())));
}

}  // namespace

TiffLayout read_tiff_layout(TiffFile& tiff) {
  const int photometric = [&] {
    std::uint16_t value = 0;
    const bool found = TIFFGetField(tiff.get(), TIFFTAG_PHOTOMETRIC, &value) != 0;
    return found ? int(value) : -1;
  }();
  check_not_raw(tiff, photometric);
  check_one_page(tiff);
  if (photometric < 0) fail_corrupt("has no photometric interpretation");
  TiffLayout layout;
  const auto cols = field<std::uint32_t>(tiff, TIFFTAG_IMAGEWIDTH);
  const auto rows = field<std::uint32_t>(tiff, TIFFTAG_IMAGELENGTH);
  if (cols == 0 || rows == 0 || cols > INT_MAX || rows > INT_MAX)
    fail_corrupt("declares an invalid image size");
  layout.shape = {int(rows), int(cols), 1, Depth::u8};
  const bool has_floats = has_float_samples(tiff);
  check_compression(tiff);
  read_colors(tiff, layout, photometric);
  if (has_floats) {
    read_float_samples(layout, photometric);
  } else {
    read_bits(tiff, layout, photometric);
  }
  read_alpha(tiff, layout, photometric == PHOTOMETRIC_PALETTE);
  if (photometric == PHOTOMETRIC_PALETTE) read_palette(tiff, layout);
  read_storage(tiff, layout);
  const int orientation = field<std::uint16_t>(tiff, TIFFTAG_ORIENTATION, kNormalOrientation);
  if (orientation >= 1 && orientation <= 8) layout.orientation = orientation;
  return layout;
}

}  // namespace eckart::codec
