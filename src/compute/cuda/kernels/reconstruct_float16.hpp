#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <vector>

#include "compute/cuda/kernels/reconstruct.hpp"

namespace eckart::cuda {

/// Factors of a batch in float16, hi and then lo: A_k = scale U V', U m x columns, V n x columns,
/// both column-major, one matrix after the other; the largest singular value first. m and n are
/// multiples of 8, columns of 16.
struct SplitFactors {
  const __half* u;
  const __half* v;
  int columns;
  float scale;  ///< for planes of 8 bits; those of 16 take what unpack_float16() took off as well
};

/// reconstruct() in one pass for all `ranks`, on tensor cores: three float16 products, added in
/// float32. The r-th rank's pixels are at out + r * out_stride, its errors at errors + r *
/// errors_stride.
void reconstruct_float16(const std::byte* pixels, const PlaneLayout* planes, int count, int m,
                         int n, const std::vector<int>& ranks, const SplitFactors& factors,
                         std::byte* out, std::size_t out_stride, TileError* errors,
                         std::size_t errors_stride, cudaStream_t stream);

}  // namespace eckart::cuda
