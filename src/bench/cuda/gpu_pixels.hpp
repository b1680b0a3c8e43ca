#pragma once

#include <memory>

#include "bench/cuda/queue.hpp"
#include "bench/operation/pixel_reconstruction.hpp"

namespace eckart::bench::cuda {

/// The kernels of runs, and products by cuBLAS with a kernel that rounds. m >= n, both
/// multiples of 8. The queue must outlive it. Throws as check() of compute/cuda.
std::unique_ptr<PixelReconstruction> make_gpu_pixels(const BatchShape& shape, Queue& queue);

}  // namespace eckart::bench::cuda
