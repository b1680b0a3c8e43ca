#pragma once

#include <stdexcept>
#include <vector>

#include "core/enum_names.hpp"

namespace eckart {

/// Formats of files that are read. A .npz file has the factors of an image.
enum class ImageFormat { png, jpeg, tiff, webp, pnm, bmp, dicom, npz };

constexpr auto enum_names(ImageFormat) {
  return std::to_array<EnumName<ImageFormat>>({{ImageFormat::png, "png"},
                                               {ImageFormat::jpeg, "jpeg"},
                                               {ImageFormat::tiff, "tiff"},
                                               {ImageFormat::webp, "webp"},
                                               {ImageFormat::pnm, "pnm"},
                                               {ImageFormat::bmp, "bmp"},
                                               {ImageFormat::dicom, "dicom"},
                                               {ImageFormat::npz, "npz"}});
}

/// Formats of outputs. The others of ImageFormat are only read. `none`: outputs are computed and
/// measured, but not written.
enum class OutputFormat { png, jpeg, tiff, webp, pnm, none };

constexpr auto enum_names(OutputFormat) {
  return std::to_array<EnumName<OutputFormat>>({{OutputFormat::png, "png"},
                                                {OutputFormat::jpeg, "jpeg"},
                                                {OutputFormat::jpeg, "jpg"},
                                                {OutputFormat::tiff, "tiff"},
                                                {OutputFormat::tiff, "tif"},
                                                {OutputFormat::webp, "webp"},
                                                {OutputFormat::pnm, "pnm"},
                                                {OutputFormat::none, "none"}});
}

/// The formats of files: all but `none`.
inline std::vector<OutputFormat> file_formats() {
  std::vector<OutputFormat> formats = enum_values<OutputFormat>();
  std::erase(formats, OutputFormat::none);
  return formats;
}

/// Requires another format than `none`.
constexpr ImageFormat image_format(OutputFormat format) {
  switch (format) {
    case OutputFormat::png:
      return ImageFormat::png;
    case OutputFormat::jpeg:
      return ImageFormat::jpeg;
    case OutputFormat::tiff:
      return ImageFormat::tiff;
    case OutputFormat::webp:
      return ImageFormat::webp;
    case OutputFormat::pnm:
      return ImageFormat::pnm;
    case OutputFormat::none:
      break;
  }
  throw std::logic_error("no image format: outputs are not written");
}

/// What happens to alpha of which a sample is not opaque. Opaque alpha is always dropped.
enum class AlphaPolicy {
  keep,   ///< carried unchanged to the outputs
  white,  ///< the image is composed onto white
  fail,   ///< the image is unsupported
};

constexpr auto enum_names(AlphaPolicy) {
  return std::to_array<EnumName<AlphaPolicy>>(
      {{AlphaPolicy::keep, "keep"}, {AlphaPolicy::white, "white"}, {AlphaPolicy::fail, "fail"}});
}

/// The decoder of input files. Both apply the same limits, alpha rule and EXIF orientation.
enum class Decoder {
  strict,  ///< the decoders of this program, which refuse damaged files
  opencv,  ///< cv::imdecode
};

constexpr auto enum_names(Decoder) {
  return std::to_array<EnumName<Decoder>>(
      {{Decoder::strict, "strict"}, {Decoder::opencv, "opencv"}});
}

constexpr int kLosslessWebp = 0;

/// How much time is spent to compress a PNG. The pixels are the same.
enum class PngCompression { fast, small };

constexpr auto enum_names(PngCompression) {
  return std::to_array<EnumName<PngCompression>>(
      {{PngCompression::fast, "fast"}, {PngCompression::small, "small"}});
}

/// How many samples of chroma a JPEG has. `keep`: as many as the input if that is a JPEG, otherwise
/// 4:4:4.
enum class JpegSubsampling { keep, k444, k422, k420 };

constexpr auto enum_names(JpegSubsampling) {
  return std::to_array<EnumName<JpegSubsampling>>({{JpegSubsampling::keep, "keep"},
                                                   {JpegSubsampling::k444, "4:4:4"},
                                                   {JpegSubsampling::k422, "4:2:2"},
                                                   {JpegSubsampling::k420, "4:2:0"}});
}

/// What outputs keep of the metadata of their input.
enum class MetadataPolicy {
  keep,  ///< all that the format can hold
  icc,   ///< only what the colors depend on: ICC profile, gAMA, cHRM, cICP, sRGB
  none,
};

constexpr auto enum_names(MetadataPolicy) {
  return std::to_array<EnumName<MetadataPolicy>>({{MetadataPolicy::keep, "keep"},
                                                  {MetadataPolicy::icc, "icc"},
                                                  {MetadataPolicy::none, "none"}});
}

struct EncodeOptions {
  int jpeg_quality = 95;             ///< 1..100
  int webp_quality = kLosslessWebp;  ///< 1..100, or kLosslessWebp
  JpegSubsampling jpeg_subsampling = JpegSubsampling::keep;
  bool jpeg_progressive = false;
  bool jpeg_optimize = false;  ///< Huffman tables of the image; implied by jpeg_progressive
  PngCompression png = PngCompression::fast;
};

/// Whether the pixels in a file may differ from the pixels that were encoded.
constexpr bool is_lossy(OutputFormat format, const EncodeOptions& options) {
  return format == OutputFormat::jpeg ||
         (format == OutputFormat::webp && options.webp_quality != kLosslessWebp);
}

}  // namespace eckart
