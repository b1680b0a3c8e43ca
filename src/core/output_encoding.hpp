#pragma once

#include <compare>
#include <limits>

#include "core/image_format.hpp"
#include "core/picture.hpp"
#include "core/shared_bytes.hpp"

namespace eckart {

/// How a backend may encode the pixels of an output, so that they need not come to the host.
struct OutputEncoding {
  /// png: IDAT chunks of PngCompression::fast. jpeg: the entropy-coded data of a baseline file with
  /// the Huffman tables of the standard.
  OutputFormat format = OutputFormat::png;
  int jpeg_quality = 0;                ///< 1..100; 0 for other formats
  ChromaSubsampling subsampling = {};  ///< of a JPEG in color
  /// Of a JPEG: whether EncodedOutput::squared_error is wanted.
  bool measures_file = false;
  friend auto operator<=>(const OutputEncoding&, const OutputEncoding&) = default;
};

/// An encoded output.
struct EncodedOutput {
  SharedBytes data{};  ///< see OutputEncoding::format; empty: the output has pixels instead
  /// Of the pixels that a decoder of the file shows, against the input; NaN: unknown.
  double squared_error = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace eckart
