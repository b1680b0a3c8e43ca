#include "core/usable_cores.hpp"

#include <sched.h>

#include <algorithm>
#include <thread>

namespace eckart {

int usable_cores() {
  cpu_set_t allowed;  // of 1024 CPUs; the kernel refuses a set that is too small for the machine
  CPU_ZERO(&allowed);
  const bool known = sched_getaffinity(0, sizeof allowed, &allowed) == 0;
  return std::max(1, known ? CPU_COUNT(&allowed) : int(std::thread::hardware_concurrency()));
}

}  // namespace eckart
