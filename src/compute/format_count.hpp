#pragma once

#include <cstdint>
#include <string>

namespace eckart::compute {

/// Formats a count with a noun: "1 image", "2 images".
inline std::string format_count(std::int64_t count, const char* noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace eckart::compute
