#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/image.hpp"

namespace eckart::codec::png {

/// A PNG with 8 bits a sample and without alpha or interlacing, and without its pixels: what
/// inflate() needs.
struct EncodedImage {
  ImageShape shape;
  std::vector<std::span<const std::byte>> stream;  ///< of zlib: its parts, in the bytes of the file
  std::size_t stream_bytes = 0;                    ///< of all parts

  /// Of a row with its filter byte.
  std::size_t row_bytes() const {
    return 1 + std::size_t(shape.cols) * std::size_t(shape.channels);
  }
};

/// The size of a buffer for the stream: inflate() reads whole words.
std::size_t padded_stream_bytes(const EncodedImage& image);

/// Copies the stream, followed by zeros up to a whole word of 4 bytes. `to`: padded_stream_bytes().
void copy_stream(const EncodedImage& image, std::byte* to);

}  // namespace eckart::codec::png
