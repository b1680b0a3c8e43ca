#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "codec/jpeg/header.hpp"
#include "core/byte_buffer.hpp"

namespace eckart::codec::jpeg {

/// A baseline JPEG without its pixels: what decode_scan() needs.
struct EncodedImage {
  JpegHeader header;
  ByteBuffer data;             ///< of unstuff(), with the zeros up to a whole word
  std::size_t data_bytes = 0;  ///< without these zeros
};

/// Returns nothing if libjpeg has to decode the file.
std::optional<EncodedImage> read_encoded_image(std::span<const std::byte> file);

}  // namespace eckart::codec::jpeg
