#pragma once

#include <memory>

#include "bench/operation/device.hpp"

namespace eckart::bench::cuda {

/// The first GPU, for one thread. Throws std::runtime_error with the driver's reason if there is
/// none.
std::unique_ptr<Gpu> make_gpu();

}  // namespace eckart::bench::cuda
