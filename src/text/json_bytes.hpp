#pragma once

#include <string>

#include "text/json.hpp"

namespace eckart::text {

/// File names are bytes, which may not be UTF-8. Returns a string, or {"hex": "..."} if the bytes
/// are not valid UTF-8.
Json bytes_to_json(const std::string& bytes);

/// The inverse. Throws Json::exception for another type, and std::invalid_argument if the digits
/// are not hexadecimal.
std::string bytes_from_json(const Json& json);

}  // namespace eckart::text
