#pragma once

#include <cstddef>
#include <span>
#include <variant>

#include "codec/jpeg/irregularity.hpp"
#include "core/image.hpp"

namespace eckart::codec::jpeg {

/// Decodes a file as the kernels do, on this thread: gray or RGB, without applying EXIF
/// orientation. The pixels are those of decode_with_libjpeg(). Otherwise the result is the reason
/// to decode the file with libjpeg. For tests, and without a limit of time. The result does not
/// depend on the number of segments: see ScanSegment.
std::variant<Image, Irregularity> decode(std::span<const std::byte> file, int segments = 1);

}  // namespace eckart::codec::jpeg
