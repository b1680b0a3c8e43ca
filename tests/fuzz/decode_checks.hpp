#pragma once

#include <optional>
#include <span>

#include "io/codec.hpp"

namespace eckart::fuzz {

/// So small that no input takes long.
constexpr ImageLimits kLimits{.pixels = 16384, .side = 4096, .file_mb = 1};

/// The codec of such a file, if there is one.
const io::Codec* find_codec(std::span<const std::byte> file);

/// What admit() announces, if it lets the file in: an image within the limits.
std::optional<ImageShape> checked_shape(const io::Codec& codec, std::span<const std::byte> file);

/// Decodes a file that is let in, if it does: to an image as announced or turned by EXIF, the same
/// whatever its memory held before.
void check_decode(const io::Codec& codec, std::span<const std::byte> file);

}  // namespace eckart::fuzz
