#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "capacity/scaling.hpp"
#include "core/resource.hpp"

namespace eckart::capacity {

std::string format_axis_label(double value);               ///< for an axis: 12, 0.5, 20k, 1.5M
std::string format_percent(double share);                  ///< 97 %, 0.3 %
std::string format_percent_range(const Estimate& shares);  ///< 0.1 to 5.2 %
std::string format_range(const Estimate& interval);        ///< 5,600 to 6,200
/// Returns the name of a resource for a sentence: "cores", "the GPU", "load threads".
std::string resource_phrase(Resource resource);

}  // namespace eckart::capacity
