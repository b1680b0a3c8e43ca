#pragma once

#include <string_view>

namespace eckart {

/// The version of the lines of a throughput log (docs/reference/throughput-log.md).
inline constexpr std::string_view kThroughputSchema = "eckart.throughput/1";

}  // namespace eckart
