#pragma once

#include <string>
#include <string_view>

namespace eckart::text {

/// The bytes of a path as RFC 3986 has them in a URI: each that is not unreserved, nor a slash, as
/// %XX.
std::string percent_encode_path(std::string_view path);

}  // namespace eckart::text
