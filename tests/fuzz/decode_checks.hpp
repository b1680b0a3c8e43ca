#pragma once

#include <optional>
#include <span>

#include "codec/codec.hpp"

namespace eckart::fuzz {

/// Small limits, so that every input is decoded quickly.
constexpr ImageLimits kLimits{.pixels = 16384, .side = 4096, .file_mb = 1, .decode_mb = 64};

/// Returns the codec that detects this file; null if there is none.
const codec::Codec* find_codec(std::span<const std::byte> file);

/// Returns whether both have the same shape and samples, or both are empty.
bool same_pixels(const Image& a, const Image& b);

/// Returns the shape that admit() reports, and checks it against the limits; nothing if admit()
/// rejects the file.
std::optional<ImageShape> checked_shape(const codec::Codec& codec, std::span<const std::byte> file);

/// Decodes a file that admit() accepts. Checks that the image has the reported shape, or that shape
/// after the EXIF orientation, and does not depend on the previous content of memory.
void check_decode(const codec::Codec& codec, std::span<const std::byte> file);

}  // namespace eckart::fuzz
