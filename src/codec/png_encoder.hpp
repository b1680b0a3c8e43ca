#pragma once

#include <cstddef>
#include <vector>

#include "codec/codec.hpp"
#include "core/image_format.hpp"
#include "core/picture.hpp"

namespace eckart::codec {

/// Returns the file: 8 or 16 bits, gray or RGB, with or without alpha, and metadata and texts.
/// Throws std::bad_alloc.
std::vector<std::byte> encode_png(const PictureView& picture, PngCompression compression);

/// As encode_png(), without the IDAT chunks.
HeadAndTail encode_png_head_and_tail(const PictureView& picture);

}  // namespace eckart::codec
