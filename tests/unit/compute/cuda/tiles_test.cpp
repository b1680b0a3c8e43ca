#include "compute/cuda/layout/tiles.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace eckart::compute::cuda {
namespace {

TEST(CudaTile, covers_a_side_exactly) {
  for (const int tile : {1, 8, 32, 64, 128}) {
    for (int side = 1; side < 600; ++side) {
      ASSERT_GE(tile_count(side, tile) * tile, side);
      ASSERT_LT((tile_count(side, tile) - 1) * tile, side);
    }
  }
  EXPECT_EQ(reconstruct_tile_count(64, 64), 1);
  EXPECT_EQ(reconstruct_tile_count(65, 64), 2);
  EXPECT_EQ(reconstruct_tile_count(200, 129), 4 * 3);
  EXPECT_EQ(project_tile_count(128), 1);
  EXPECT_EQ(project_tile_count(129), 2);
}

/// Kernels divide the elements that they copy among threads in this way.
TEST(CudaTile, covers_an_area_once_by_runs) {
  for (const int run_length : {1, 2, 4, 8}) {
    for (const int width : {8, 16, 32, 48, 64, 128}) {
      for (const int rows : {1, 3, 16, 64}) {
        std::vector<int> seen(std::size_t(rows * width));
        for (int at = 0; at < rows * width / run_length; ++at) {
          const auto [row, column] = run_position(at, width, run_length);
          ASSERT_EQ(column % run_length, 0) << "aligned";
          for (int e = 0; e < run_length; ++e) ++seen.at(std::size_t(row * width + column + e));
        }
        ASSERT_EQ(seen, std::vector<int>(seen.size(), 1)) << run_length << ", " << width;
      }
    }
  }
}

/// Neighboring threads must access neighboring memory.
TEST(CudaTile, has_adjacent_consecutive_runs) {
  for (int at = 0; at < 64 * 64 / 4 - 1; ++at) {
    const Position one = run_position(at, 64, 4), next = run_position(at + 1, 64, 4);
    ASSERT_EQ(one.row * 64 + one.column + 4, next.row * 64 + next.column);
  }
}

TEST(CudaTile, covers_the_lower_triangle_once) {
  for (int side = 1; side < 40; ++side) {
    std::vector<int> seen(std::size_t(side * side));
    for (int index = 0; index < triangle_tile_count(side); ++index) {
      const auto [row, column] = triangle_tile(index);
      ASSERT_LE(column, row);
      ASSERT_GE(column, 0);
      ++seen.at(std::size_t(row * side + column));
    }
    for (int row = 0; row < side; ++row) {
      for (int column = 0; column < side; ++column)
        ASSERT_EQ(seen[std::size_t(row * side + column)], column <= row);
    }
  }
}

}  // namespace
}  // namespace eckart::compute::cuda
