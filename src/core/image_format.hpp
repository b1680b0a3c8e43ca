#pragma once

#include "core/enum_names.hpp"

namespace eckart {

/// Formats of image files.
enum class ImageFormat { png, jpeg };

constexpr auto enum_names(ImageFormat) {
  return std::to_array<EnumName<ImageFormat>>(
      {{ImageFormat::png, "png"}, {ImageFormat::jpeg, "jpeg"}, {ImageFormat::jpeg, "jpg"}});
}

/// Whether the pixels in a file may differ from the pixels that were encoded.
constexpr bool is_lossy(ImageFormat format) {
  switch (format) {
    case ImageFormat::png:
      return false;
    case ImageFormat::jpeg:
      return true;
  }
  return true;
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

struct EncodeOptions {
  int jpeg_quality = 95;  ///< 1..100
};

}  // namespace eckart
