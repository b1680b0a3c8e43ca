#include "compute/cpu/cpu_name.hpp"

#include <fstream>

namespace eckart::compute::cpu {

std::string cpu_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const std::size_t value = line.find(": ");
    if (line.starts_with("model name") && value != std::string::npos) return line.substr(value + 2);
  }
  return "unknown CPU";  // ARM kernels report no model name
}

}  // namespace eckart::compute::cpu
