#pragma once

#include <cstddef>
#include <span>

#include "core/image.hpp"
#include "io/codec.hpp"
#include "io/deadline.hpp"

namespace eckart::io {

/// Decodes a JPEG of the shape `announced` without applying EXIF orientation. Strict: data that
/// libjpeg only warns about (data that end early, bad codes) throw ItemError(corrupt) with its
/// message, as do more than 500 scans. Two warnings that do not affect pixels are ignored: stray
/// bytes before the first scan, and a JFIF version other than 1. Throws ItemError(too_large) after
/// the deadline and if limits.decode_mb is exceeded, and std::bad_alloc.
///
/// If the image has several scans, all coefficients are in memory beside the image, 2 bytes per
/// sample.
Image decode_with_libjpeg(std::span<const std::byte> file, const ImageShape& announced,
                          const ImageLimits& limits, Deadline& deadline);

}  // namespace eckart::io
