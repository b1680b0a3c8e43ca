#include "compute/cuda/layout/small_matrices.hpp"

#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

namespace eckart::compute::cuda {
namespace {

TEST(CudaSmallMatrix, has_one_thread_for_every_element) {
  for (int l = 1; l <= kMaxSmallOrder; l += 5) {
    const int tiles = order_tiles(l);
    EXPECT_GE(tiles * kSide, l);
    EXPECT_LT((tiles - 1) * kSide, l);
    EXPECT_LE(tiles, kMaxOrderTiles);
  }
}

TEST(CudaSmallMatrix, has_a_largest_order_that_fits_shared_memory) {
  const auto bytes = [](int order) { return order * order; };
  EXPECT_EQ(largest_order(16 * 16 - 1, bytes), 0);
  EXPECT_EQ(largest_order(16 * 16, bytes), 16);
  EXPECT_EQ(largest_order(100 * 100, bytes), 96);
  EXPECT_EQ(largest_order(1 << 30, bytes), kMaxSmallOrder);
}

/// The shared memory of rotate(): hi and lo of M, [column][k], then hi and lo of the rows,
/// [k][row].
TEST(CudaRotation, has_enough_shared_memory_for_its_layout) {
  for (int l = 16; l <= 256; l += 16) {
    for (const bool upper : {false, true}) {
      for (int column0 = 0; column0 < l; column0 += kRotateColumns) {
        const int depth = rotate_depth(l, column0, upper);
        EXPECT_LE(depth, l);
        const RotateShared area(depth);
        EXPECT_GE(area.m_stride, depth);
        EXPECT_GT(area.m_count, (kRotateColumns - 1) * area.m_stride + depth - 1);
        EXPECT_GT(area.rows_count, (depth - 1) * RotateShared::kRowStride + kRotateRows - 1);
        EXPECT_EQ(area.count(), 2 * area.m_count + 2 * area.rows_count);
        EXPECT_LE(2 * std::size_t(area.count()), rotate_shared_bytes(l));
        // Eight float16 numbers are loaded as 16 bytes.
        for (const int at :
             {area.m_stride, area.m_count, area.rows_count, RotateShared::kRowStride})
          EXPECT_EQ(at % 8, 0);
      }
    }
  }
}

/// The eight rows of an 8 x 8 matrix, 16 bytes each, are in different banks (32 banks of four
/// bytes).
TEST(CudaRotation, reads_shared_memory_without_conflicts) {
  for (int depth = 16; depth <= 256; depth += 16) {
    for (const int stride : {RotateShared(depth).m_stride, RotateShared::kRowStride}) {
      std::set<int> banks;
      for (int row = 0; row < 8; ++row) banks.insert(row * stride * 2 / 4 % 32 / 4);
      EXPECT_EQ(banks.size(), 8U) << depth;
    }
  }
}

/// The depth includes all nonzero rows of an upper triangular M in these columns, and no others.
TEST(CudaRotation, has_the_depth_of_the_triangle) {
  for (int l = 16; l <= 256; l += 16) {
    for (int column0 = 0; column0 < l; column0 += kRotateColumns) {
      EXPECT_EQ(rotate_depth(l, column0, false), l);
      const int last_column = std::min(l, column0 + kRotateColumns) - 1;
      EXPECT_EQ(rotate_depth(l, column0, true), last_column + 1);
    }
  }
}

TEST(CudaJacobi, has_one_thread_for_every_row_of_every_column) {
  for (int tiles = 1; tiles <= kMaxOrderTiles; ++tiles) {
    const int order = 16 * tiles, groups = jacobi_threads(tiles) / kJacobiLanes;
    EXPECT_EQ(groups * kJacobiColumns, order);
    std::vector<int> seen(static_cast<std::size_t>(order));
    for (int lane = 0; lane < kJacobiLanes; ++lane) {
      for (int e = 0; e < tiles; ++e) {
        ++seen.at(std::size_t(jacobi_row(lane, e)));
        ++seen.at(std::size_t(jacobi_row(lane, e) + 1));
      }
    }
    EXPECT_EQ(seen, std::vector<int>(std::size_t(order), 1));
  }
}

TEST(CudaJacobi, fits_the_register_file) {
  for (int tiles = 1; tiles <= kMaxOrderTiles; ++tiles) {
    const int blocks = jacobi_blocks(tiles);
    EXPECT_GE(blocks, 1);
    EXPECT_LE(blocks, 16);
    EXPECT_LE(jacobi_threads(tiles), 1024) << "limit of threads per block";
    if (blocks > 1) {
      EXPECT_LE(blocks * jacobi_threads(tiles) * (8 * tiles + 64), 65536);
    }
  }
}

TEST(CudaJacobi, inverts_the_step_to_find_the_source_in_the_ring) {
  for (const int groups : {4, 12, 48}) {
    for (const int step : {-1, 1}) {
      for (int group = 0; group < groups; ++group) {
        const int from = ring_source(group, step, groups);
        ASSERT_EQ((from + step + groups) % groups, group);
        ASSERT_GE(from, 0);
        ASSERT_LT(from, groups);
      }
    }
  }
}

/// Simulates the steps of a sweep of jacobi() with numbered pairs of columns.
TEST(CudaJacobi, combines_all_columns_once_in_a_sweep) {
  for (int tiles = 1; tiles <= kMaxOrderTiles; ++tiles) {
    const int groups = jacobi_threads(tiles) / kJacobiLanes;
    std::vector<int> left, right;
    for (int group = 0; group < groups; ++group) {
      left.push_back(2 * group);
      right.push_back(2 * group + 1);
    }
    std::multiset<std::pair<int, int>> met;
    const auto pass = [&](std::vector<int>& pairs, int step) {
      std::vector<int> received;
      for (int group = 0; group < groups; ++group)
        received.push_back(pairs[std::size_t(ring_source(group, step, groups))]);
      pairs = received;
    };
    for (int step = 0; step < groups; ++step) {
      for (std::size_t g = 0; g < left.size(); ++g) met.insert(std::minmax(left[g], right[g]));
      pass(right, -1);
      for (std::size_t g = 0; g + 1 < left.size(); ++g) met.insert(std::minmax(left[g], right[g]));
      std::swap(left.back(), right.back());
      pass(left, 1);
    }
    for (int a = 0; a < 2 * groups; ++a) {
      for (int b = a + 1; b < 2 * groups; ++b) ASSERT_EQ(met.count({a, b}), 1U) << tiles;
    }
  }
}

}  // namespace
}  // namespace eckart::compute::cuda
