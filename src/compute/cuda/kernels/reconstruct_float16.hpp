#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <vector>

#include "compute/cuda/kernels/reconstruct.hpp"

namespace eckart::compute::cuda {

/// Factors of a batch in float16, hi followed by lo: A_k = scale U V', U is m x columns, V is n x
/// columns. Both are column-major and contiguous, with the largest singular value first. m and n
/// must be multiples of 8, columns a multiple of 16.
struct SplitFactors {
  const __half* u;
  const __half* v;
  int columns;
  float scale;  ///< for 8-bit planes; 16-bit planes are also divided by float16_scale()
};

/// Like reconstruct(), for all `ranks` in one pass on tensor cores. If `chosen_ranks` is not null,
/// the rank of output r for plane p is chosen_ranks[r * count + p], at most factors.columns. A
/// plane with a negative rank is left out: its pixels and errors are not written. The products are
/// three float16 products each, summed in float32. The pixels of rank r are at out + r
/// * out_stride, its errors at errors + r * errors_stride. Asynchronous. Throws as check_launch()
/// does.
void reconstruct_float16(const std::byte* pixels, const PlaneLayout* planes, int count, int m,
                         int n, const std::vector<int>& ranks, const int* chosen_ranks,
                         const SplitFactors& factors, std::byte* out, std::size_t out_stride,
                         TileError* errors, std::size_t errors_stride, cudaStream_t stream);

/// The share of the threads of a multiprocessor that can be resident in reconstruct_float16()
/// without chosen ranks.
double reconstruct_float16_occupancy();

}  // namespace eckart::compute::cuda
