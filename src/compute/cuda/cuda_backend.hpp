#pragma once

#include <memory>

#include "compute/backend.hpp"

namespace eckart::compute::cuda {

/// Creates a backend with lanes on all requested GPUs. Throws FatalError(unavailable) with the
/// driver's reason if a GPU cannot be used.
std::unique_ptr<Backend> make_cuda_backend(const BackendOptions& options);

}  // namespace eckart::compute::cuda
