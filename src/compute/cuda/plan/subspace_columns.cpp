#include "compute/cuda/plan/subspace_columns.hpp"

#include <algorithm>

namespace eckart::cuda {

int cuda_subspace_columns(int rank, int max_float16_columns) {
  constexpr int kMinOversampling = 28;  // columns more than the rank
  constexpr int kColumnMultiple = 16;   // matrix products are faster
  const int min_columns = rank + std::max(kMinOversampling, rank / 4);
  if (min_columns > max_float16_columns && rank + kMinOversampling <= max_float16_columns)
    return max_float16_columns;
  return (min_columns + kColumnMultiple - 1) / kColumnMultiple * kColumnMultiple;
}

}  // namespace eckart::cuda
