#pragma once

#include <memory>

#include "compute/backend.hpp"

namespace eckart {

/// One plane after the other, one BLAS thread a lane. gram, gesvd and gesvdj are LAPACK's in
/// float64, and the reference; subspace, and automatic where it pays, iterate in float32 and
/// certify each output, or leave the plane to gram.
std::unique_ptr<Backend> make_cpu_backend(const BackendOptions& options);

}  // namespace eckart
