#pragma once

#include <cstddef>
#include <optional>

#include "codec/deadline.hpp"
#include "codec/png_parts.hpp"
#include "core/picture.hpp"

namespace eckart::codec {

/// Returns the maximum size of all IDAT chunks that decode_with_libdeflate() accepts: enough for
/// stored blocks of 1 KB in chunks of 1 KB.
constexpr std::size_t max_idat_bytes(std::size_t row_bytes) {
  return row_bytes + row_bytes / 32 + 1024;
}

/// Decodes a PNG whose rows consist of whole samples, without applying EXIF orientation. Alpha is
/// returned even if it is opaque. The picture has no metadata. Returns nullopt if the PNG is of
/// another kind, if anything in it is wrong, if its IDAT chunks are too large, or if inflating
/// could last beyond the deadline: decode_with_spng() then decides, and gives the reason. Throws
/// ItemError(too_large) after the deadline.
std::optional<Picture> decode_with_libdeflate(const PngParts& parts, Deadline& deadline);

/// What determines the memory of decode_with_libdeflate().
struct LibdeflateInput {
  ImageShape shape;           ///< without alpha
  std::size_t row_bytes = 0;  ///< inflated size of all rows
  bool has_alpha_channel = false;
  bool has_alpha = false;             ///< as a channel or a transparent color
  std::size_t stream_copy_bytes = 0;  ///< of the IDAT chunks, if there are several
};

/// Returns the memory of decode_with_libdeflate() and of the rotation after it.
std::size_t libdeflate_decode_bytes(const LibdeflateInput& input, bool is_rotated);

}  // namespace eckart::codec
