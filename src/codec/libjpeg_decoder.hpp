#pragma once

#include <cstddef>
#include <span>

#include "codec/codec.hpp"
#include "codec/deadline.hpp"
#include "core/image.hpp"

namespace eckart::codec {

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

}  // namespace eckart::codec
