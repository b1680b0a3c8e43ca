#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstddef>

#include "compute/cuda/layout/plane_layout.hpp"

namespace eckart::compute::cuda {

/// Converts samples to float16 matrices, padded with zeros and scaled by float16_scale(). hi + lo
/// is exact, hi is the nearest float16; lo is zero for 8-bit planes. Both are A of planes[p]
/// transposed, column-major n x m, p < count. `lo_t` may be null if all planes have 8 bits. n must
/// be even. Asynchronous. Throws as check_launch() does.
void unpack_float16(const std::byte* pixels, const PlaneLayout* planes, int count, int m, int n,
                    __half* hi_t, __half* lo_t, cudaStream_t stream);

}  // namespace eckart::compute::cuda
