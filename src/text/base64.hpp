#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace eckart::text {

/// Encodes bytes as RFC 4648 describes, section 4, with padding.
std::string base64(std::span<const std::byte> bytes);

}  // namespace eckart::text
