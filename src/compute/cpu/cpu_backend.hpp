#pragma once

#include <memory>

#include "compute/backend.hpp"

namespace eckart {

/// The reference: float64 LAPACK, one plane after the other, one BLAS thread a lane.
std::unique_ptr<Backend> make_cpu_backend(const BackendOptions& options);

}  // namespace eckart
