#pragma once

#include <cstddef>
#include <span>

#include "core/image.hpp"
#include "io/codec.hpp"
#include "io/deadline.hpp"

namespace eckart::io {

/// Decodes a JPEG of that shape, as it lies in the file (EXIF orientation not applied). Strict:
/// what libjpeg would only warn of (data that end early, bad codes) throws ItemError(corrupt) with
/// its words, as do more than 500 scans. Two warnings say nothing about pixels and are passed over:
/// stray bytes before the first scan, and a JFIF version other than 1. Throws
/// ItemError(too_large) after the deadline and over limits.decode_mb, and std::bad_alloc.
///
/// Of an image of several scans all coefficients are held, 2 bytes a sample, beside the image.
Image decode_with_libjpeg(std::span<const std::byte> file, const ImageShape& announced,
                          const ImageLimits& limits, Deadline& deadline);

}  // namespace eckart::io
