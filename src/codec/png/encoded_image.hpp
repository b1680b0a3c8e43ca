#pragma once

#include <cstddef>
#include <vector>

#include "core/image.hpp"

namespace eckart::codec::png {

/// A PNG with 8 bits a sample and without alpha or interlacing, and without its pixels: what
/// inflate() needs.
struct EncodedImage {
  ImageShape shape;
  std::vector<std::byte> stream;  ///< of zlib, with zeros up to a whole word of 4 bytes
  std::size_t stream_bytes = 0;   ///< without these zeros

  /// Of a row with its filter byte.
  std::size_t row_bytes() const {
    return 1 + std::size_t(shape.cols) * std::size_t(shape.channels);
  }
};

}  // namespace eckart::codec::png
