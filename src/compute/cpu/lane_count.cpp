#include "compute/cpu/lane_count.hpp"

#include <cblas.h>

#include "core/default_threads.hpp"
#include "machine/usable_cores.hpp"

namespace eckart::compute::cpu {

bool is_openblas_thread_safe() { return openblas_get_parallel() != OPENBLAS_SEQUENTIAL; }

int choose_lane_count(const BackendOptions& options) {
  if (!is_openblas_thread_safe()) return 1;
  return options.lanes > 0 ? options.lanes : default_cpu_lanes(machine::usable_cores());
}

}  // namespace eckart::compute::cpu
