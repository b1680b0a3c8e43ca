#include "codec/tiff_encoder.hpp"

#include <algorithm>
#include <cstdint>

#include "codec/alpha.hpp"
#include "codec/codec.hpp"
#include "codec/exif_entries.hpp"
#include "codec/tiff_file.hpp"
#include "core/error.hpp"

namespace eckart::codec {
namespace {

void check(bool ok) {
  if (!ok) throw ItemError(FailureReason::not_written, "the image cannot be encoded by libtiff");
}

template <class... Values>
void set(const TiffFile& tiff, std::uint32_t tag, Values... values) {
  check(TIFFSetField(tiff.get(), tag, values...) == 1);
}

void set_tags(const TiffFile& tiff, const PictureView& picture, std::uint32_t strip_rows) {
  const ImageShape& shape = picture.pixels.shape();
  set(tiff, TIFFTAG_IMAGEWIDTH, std::uint32_t(shape.cols));
  set(tiff, TIFFTAG_IMAGELENGTH, std::uint32_t(shape.rows));
  set(tiff, TIFFTAG_BITSPERSAMPLE, 8 * int(shape.depth));
  set(tiff, TIFFTAG_SAMPLEFORMAT, is_float(shape.depth) ? SAMPLEFORMAT_IEEEFP : SAMPLEFORMAT_UINT);
  set(tiff, TIFFTAG_SAMPLESPERPIXEL, shape.channels + (picture.has_alpha() ? 1 : 0));
  set(tiff, TIFFTAG_PHOTOMETRIC, shape.channels == 1 ? PHOTOMETRIC_MINISBLACK : PHOTOMETRIC_RGB);
  set(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
  set(tiff, TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT);
  set(tiff, TIFFTAG_COMPRESSION, COMPRESSION_ADOBE_DEFLATE);
  // The predictor for floats is not known to all readers, such as tifffile without imagecodecs.
  set(tiff, TIFFTAG_PREDICTOR, is_float(shape.depth) ? PREDICTOR_NONE : PREDICTOR_HORIZONTAL);
  set(tiff, TIFFTAG_ROWSPERSTRIP, strip_rows);
  if (picture.has_alpha()) {
    const std::uint16_t kind = EXTRASAMPLE_UNASSALPHA;
    set(tiff, TIFFTAG_EXTRASAMPLES, 1, &kind);
  }
  if (picture.metadata == nullptr) return;
  const auto set_blob = [&](std::uint32_t tag, const std::vector<std::byte>& bytes) {
    if (!bytes.empty()) set(tiff, tag, std::uint32_t(bytes.size()), bytes.data());
  };
  set_blob(TIFFTAG_ICCPROFILE, picture.metadata->icc);
  set_blob(TIFFTAG_XMLPACKET, picture.metadata->xmp);
}

}  // namespace

std::vector<std::byte> encode_tiff(const PictureView& picture) {
  constexpr std::size_t kStripBytes = 256 << 10;
  constexpr std::size_t kMaxSmall = std::size_t(3) << 30;  // compression may add to the size
  const auto rows = std::size_t(picture.pixels.shape().rows);
  // libtiff changes the samples in place.
  std::vector<std::byte> samples;
  if (picture.has_alpha()) {
    samples = interleave_alpha(picture);
  } else {
    samples.assign(picture.pixels.data(), picture.pixels.data() + picture.pixels.bytes());
  }
  const std::size_t row_bytes = samples.size() / rows;
  const std::size_t strip_rows = std::clamp<std::size_t>(kStripBytes / row_bytes, 1, rows);
  const bool is_big = samples.size() > kMaxSmall;
  TiffFile tiff(is_big);
  set_tags(tiff, picture, std::uint32_t(strip_rows));
  for (std::size_t row = 0, strip = 0; row < rows; row += strip_rows, ++strip) {
    const std::size_t bytes = std::min(strip_rows, rows - row) * row_bytes;
    check(TIFFWriteEncodedStrip(tiff.get(), std::uint32_t(strip), samples.data() + row * row_bytes,
                                tmsize_t(bytes)) == tmsize_t(bytes));
  }
  check(TIFFWriteDirectory(tiff.get()) == 1);
  std::vector<std::byte> file = tiff.finish();
  const auto entries = read_exif_entries(described_exif(picture), MetadataLimits::kNone);
  if (entries && !is_big) write_exif_entries(*entries, file);
  return file;
}

}  // namespace eckart::codec
