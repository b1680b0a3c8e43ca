#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "capacity/scaling.hpp"

namespace eckart::capacity {

std::string format_percent(double share);                  ///< 97 %, 0.3 %
std::string format_percent_range(const Estimate& shares);  ///< 0.1–5.2 %
std::string format_range(const Estimate& interval);        ///< 5,600–6,200

}  // namespace eckart::capacity
