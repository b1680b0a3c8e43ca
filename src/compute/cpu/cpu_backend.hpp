#pragma once

#include <memory>

#include "compute/backend.hpp"

namespace eckart::compute::cpu {

/// Computes one plane at a time with one BLAS thread per lane. gram, gesvd and gesvdj use LAPACK in
/// float64 and are the reference. subspace, and automatic where it is faster, iterate in float32
/// and certify each output. Uncertified planes are recomputed by gram, then by gesvd.
std::unique_ptr<Backend> make_cpu_backend(const BackendOptions& options);

}  // namespace eckart::compute::cpu
