#include "compute/cpu/lapack_info.hpp"

#include <new>
#include <string>

#include "core/error.hpp"

namespace eckart::compute::cpu {

void check_lapack(lapack_int info, const char* routine) {
  if (info == 0) return;
  if (info == LAPACK_WORK_MEMORY_ERROR || info == LAPACK_TRANSPOSE_MEMORY_ERROR)
    throw std::bad_alloc();
  if (info < 0)
    throw ItemError(FailureReason::compute_failed,
                    std::string(routine) + " refused its argument " + std::to_string(-info));
  throw ItemError(FailureReason::not_converged,
                  std::string(routine) + " did not converge (info " + std::to_string(info) + ")");
}

}  // namespace eckart::compute::cpu
