#include "compute/cuda/plan/subspace_columns.hpp"

#include <gtest/gtest.h>

namespace eckart::compute::cuda {
namespace {

TEST(CudaSubspaceColumnCount, exceeds_the_rank_by_a_quarter_unless_fewer_allow_float16) {
  for (const int max_float16_columns : {112, 192}) {
    for (int rank = 1; rank < 400; ++rank) {
      const int columns = cuda_subspace_columns(rank, max_float16_columns);
      EXPECT_GE(columns, rank + 28);
      EXPECT_TRUE(4 * columns > 5 * rank - 4 || columns == max_float16_columns) << rank;
    }
    EXPECT_EQ(cuda_subspace_columns(max_float16_columns - 28, max_float16_columns),
              max_float16_columns);
    EXPECT_GT(cuda_subspace_columns(max_float16_columns - 27, max_float16_columns),
              max_float16_columns);
  }
}

}  // namespace
}  // namespace eckart::compute::cuda
