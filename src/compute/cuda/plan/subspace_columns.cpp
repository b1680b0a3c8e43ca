#include "compute/cuda/plan/subspace_columns.hpp"

#include <algorithm>

#include "compute/solver_choice.hpp"

namespace eckart::compute::cuda {

int cuda_subspace_columns(int rank, int max_float16_columns) {
  constexpr int kMinOversampling = 28;  // columns more than the rank
  const int min_columns = rank + std::max(kMinOversampling, rank / 4);
  if (min_columns > max_float16_columns && rank + kMinOversampling <= max_float16_columns)
    return max_float16_columns;
  return round_up(min_columns, kColumnMultiple);
}

}  // namespace eckart::compute::cuda
