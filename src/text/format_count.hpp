#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "text/group_digits.hpp"

namespace eckart::text {

/// Formats as "1 core" or "2,000 cores". The plural of `noun` must be `noun` with an s.
inline std::string format_count(std::int64_t count, std::string_view noun) {
  return group_digits(count).append(" ").append(noun).append(count == 1 ? "" : "s");
}

}  // namespace eckart::text
