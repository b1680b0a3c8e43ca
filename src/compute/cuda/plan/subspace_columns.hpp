#pragma once

namespace eckart::cuda {

/// Columns that block subspace iteration works with on CUDA to find `rank` vectors: a quarter more,
/// 28 at least, and a multiple of 16; or `max_float16_columns`, that the float16 kernels take,
/// where that is 28 more at least.
int cuda_subspace_columns(int rank, int max_float16_columns);

}  // namespace eckart::cuda
