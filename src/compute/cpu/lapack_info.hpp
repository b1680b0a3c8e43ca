#pragma once

#include <lapacke.h>

namespace eckart::cpu {

/// Checks what a LAPACKE routine returned. Throws std::bad_alloc if LAPACKE had no memory for its
/// workspace, ItemError (not_converged) if `info` > 0, and ItemError (compute_failed) if an
/// argument was wrong.
void check_lapack(lapack_int info, const char* routine);

}  // namespace eckart::cpu
