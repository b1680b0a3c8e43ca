#pragma once

#include <string>

#include "codec/codec.hpp"
#include "core/error.hpp"

namespace eckart::codec {

Codec png_codec(Decoder decoder);
Codec jpeg_codec(Decoder decoder);
Codec tiff_codec();
Codec webp_codec();
Codec pnm_codec();
Codec bmp_codec();
Codec dicom_codec();
/// Reads factors, see encode_factors(): Picture::factors.
Codec factors_codec();

std::string tiff_version();
std::string webp_version();
std::string dcmtk_version();  ///< empty if the module eckart_dcmtk is not installed

/// Codecs of formats without alpha throw this for a picture with alpha.
[[noreturn]] inline void fail_without_alpha(const std::string& format) {
  throw ItemError(
      FailureReason::not_encodable,
      format + " has no alpha channel; use input.alpha=white, or another output.format");
}

/// Throws if the samples need more than `max_depth`, the largest that the format can hold.
inline void check_depth(const std::string& format, Depth depth, Depth max_depth) {
  if (depth <= max_depth) return;
  throw ItemError(FailureReason::not_encodable,
                  format + " does not support " + sample_name(depth) +
                      " samples; use output.format=" + (is_float(depth) ? "tiff" : "png"));
}

// The codecs reject a file with these.
[[noreturn]] inline void fail_corrupt(const std::string& why) {
  throw ItemError(FailureReason::corrupt, why);
}
[[noreturn]] inline void fail_unsupported(const std::string& why) {
  throw ItemError(FailureReason::unsupported, why);
}

}  // namespace eckart::codec
