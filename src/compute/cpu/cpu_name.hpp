#pragma once

#include <string>

namespace eckart::compute::cpu {

/// The model name in /proc/cpuinfo, or "unknown CPU".
std::string cpu_name();

}  // namespace eckart::compute::cpu
