#pragma once

#include "core/image.hpp"

namespace eckart::compute::cuda {

/// Whether a GPU resizes the image much faster than a CPU core does, by an estimate: the GPU's bus
/// and its fixed time per image against the CPU's products of samples and weights. False for
/// floats, which the kernel does not take.
bool is_resized_faster_on_gpu(const ImageShape& shape, int rows, int cols);

}  // namespace eckart::compute::cuda
