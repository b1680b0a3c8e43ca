#pragma once

#include "bench/operation/device.hpp"

namespace eckart::bench::cuda {

// As the functions of Gpu, on the current device. They throw as check() of compute/cuda, and
// std::runtime_error if data is wrong.

RepeatableWork make_copy(HostMemory memory, Direction direction, std::size_t bytes);
RepeatableWork make_allocation(Allocation kind, std::size_t bytes);
RepeatableWork make_addition_of_host_vectors(bool copies, std::size_t elements);

}  // namespace eckart::bench::cuda
