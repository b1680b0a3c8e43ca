#include "compute/cuda/layout/tiles.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace eckart::cuda {
namespace {

TEST(CudaTiles, cover_a_side_and_no_more) {
  for (const int tile : {1, 8, 32, 64, 128}) {
    for (int side = 1; side < 600; ++side) {
      ASSERT_GE(tiles_of(side, tile) * tile, side);
      ASSERT_LT((tiles_of(side, tile) - 1) * tile, side);
    }
  }
  EXPECT_EQ(reconstruct_tiles(64, 64), 1);
  EXPECT_EQ(reconstruct_tiles(65, 64), 2);
  EXPECT_EQ(reconstruct_tiles(200, 129), 4 * 3);
  EXPECT_EQ(project_tiles(128), 1);
  EXPECT_EQ(project_tiles(129), 2);
}

/// Threads that take every run of an area, as kernels share out what they copy.
TEST(CudaTiles, runs_cover_an_area_once) {
  for (const int each : {1, 2, 4, 8}) {
    for (const int width : {8, 16, 32, 48, 64, 128}) {
      for (const int rows : {1, 3, 16, 64}) {
        std::vector<int> seen(std::size_t(rows * width));
        for (int at = 0; at < rows * width / each; ++at) {
          const auto [row, column] = run_at(at, width, each);
          ASSERT_EQ(column % each, 0) << "aligned";
          for (int e = 0; e < each; ++e) ++seen.at(std::size_t(row * width + column + e));
        }
        ASSERT_EQ(seen, std::vector<int>(seen.size(), 1)) << each << ", " << width;
      }
    }
  }
}

/// Neighboring threads get neighboring memory.
TEST(CudaTiles, runs_go_along_the_rows) {
  for (int at = 0; at < 64 * 64 / 4 - 1; ++at) {
    const Position one = run_at(at, 64, 4), next = run_at(at + 1, 64, 4);
    ASSERT_EQ(one.row * 64 + one.column + 4, next.row * 64 + next.column);
  }
}

TEST(CudaTiles, of_the_lower_triangle_are_each_found_once) {
  for (int side = 1; side < 40; ++side) {
    std::vector<int> seen(std::size_t(side * side));
    for (int index = 0; index < triangle_tiles(side); ++index) {
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
}  // namespace eckart::cuda
