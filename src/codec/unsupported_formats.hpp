#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace eckart::codec {

/// A CR2 file begins as a TIFF whose first directory is at offset 16.
inline constexpr std::string_view kCr2Signature("II*\0\x10\0\0\0CR", 10);

/// Returns the name of a known format of images or documents that is not read, such as "HEIC", from
/// the first 256 bytes of a file. Returns an empty text for other files.
std::string_view unsupported_format(std::span<const std::byte> start);

}  // namespace eckart::codec
