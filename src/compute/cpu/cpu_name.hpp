#pragma once

#include <string>

namespace eckart::cpu {

/// The model that the kernel tells, or else "unknown CPU".
std::string cpu_name();

}  // namespace eckart::cpu
