#pragma once

#include <string>
#include <string_view>

namespace eckart::text {

/// Encodes a path for a URI (RFC 3986). Unreserved characters and slashes are kept. Every other
/// byte becomes %XX.
std::string percent_encode_path(std::string_view path);

}  // namespace eckart::text
