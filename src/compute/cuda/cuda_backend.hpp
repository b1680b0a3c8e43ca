#pragma once

#include <memory>

#include "compute/backend.hpp"

namespace eckart::cuda {

/// Lanes on every GPU asked for. Throws FatalError(unavailable), with the driver's reason, when
/// there is none.
std::unique_ptr<Backend> make_cuda_backend(const BackendOptions& options);

}  // namespace eckart::cuda
