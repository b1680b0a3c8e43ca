#include "compute/cuda/plan/subspace_columns.hpp"

#include <algorithm>

#include "compute/solver_choice.hpp"

namespace eckart::compute::cuda {

int cuda_subspace_columns(int rank, int max_float16_columns) {
  // columns more than the rank: at least kMinOversampling, and the rank / kOversamplingDivisor
  constexpr int kMinOversampling = 28, kOversamplingDivisor = 4;
  const int min_columns = rank + std::max(kMinOversampling, rank / kOversamplingDivisor);
  if (min_columns > max_float16_columns && rank + kMinOversampling <= max_float16_columns)
    return max_float16_columns;
  return round_up(min_columns, kColumnMultiple);
}

int cuda_factor_columns(int rank, int max_float16_columns) {
  return cuda_subspace_columns(rank + rank / 2, max_float16_columns);
}

}  // namespace eckart::compute::cuda
