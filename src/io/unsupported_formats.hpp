#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace eckart::io {

/// Returns the name of a known format of images or documents that is not read, such as "HEIC", from
/// the first 256 bytes of a file. Returns an empty text for other files.
std::string_view unsupported_format(std::span<const std::byte> start);

}  // namespace eckart::io
