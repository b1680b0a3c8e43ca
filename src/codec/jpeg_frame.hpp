#pragma once

#include <cstddef>

#include "codec/jpeg_segments.hpp"
#include "core/image.hpp"

namespace eckart::codec {

inline constexpr std::size_t kJpegBlockSide = 8;  ///< samples
/// Of the coefficients of a block.
inline constexpr std::size_t kJpegBlockBytes = 2 * kJpegBlockSide * kJpegBlockSide;

/// The storage of coefficients according to the frame header.
struct JpegFrame {
  ImageShape shape;
  bool progressive = false;
  bool arithmetic = false;
  std::size_t coefficient_bytes = 0;  ///< all coefficients
};

/// Parses a frame header. Throws ItemError: `unsupported`, for example for lossless JPEG,
/// `corrupt`, `too_large`.
JpegFrame parse_jpeg_frame(const JpegSegment& segment);

}  // namespace eckart::codec
