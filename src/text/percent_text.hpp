#pragma once

#include <spdlog/fmt/fmt.h>

#include <string>

namespace eckart::text {

/// Formats 0.97 as "97 %".
inline std::string percent_text(double share) { return fmt::format("{:.0f} %", 100 * share); }

}  // namespace eckart::text
