#pragma once

#include <lapacke.h>

namespace eckart::compute::cpu {

/// Checks the return value of a LAPACKE routine. Throws std::bad_alloc if LAPACKE could not
/// allocate its workspace, ItemError(not_converged) if `info` > 0, and ItemError(compute_failed) if
/// an argument was invalid.
void check_lapack(lapack_int info, const char* routine);

}  // namespace eckart::compute::cpu
