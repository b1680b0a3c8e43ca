#pragma once

namespace eckart::compute::cuda {

/// The number of columns l of block subspace iteration on CUDA for this rank: rank + max(28, rank /
/// 4), rounded up to a multiple of 16. If that is more than `max_float16_columns`, but rank + 28 is
/// not, it is `max_float16_columns`.
int cuda_subspace_columns(int rank, int max_float16_columns);

/// The same for batches with factors: that for one and a half times the rank, because singular
/// vectors converge later than the error of their sum.
int cuda_factor_columns(int rank, int max_float16_columns);

}  // namespace eckart::compute::cuda
