// Simulates ldmatrix and mma for a warp as the PTX manual defines them, with the addresses and
// elements from the header.
#include "compute/cuda/layout/tensor_core.hpp"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <vector>

namespace eckart::compute::cuda::tensor_core {
namespace {

constexpr int kLanes = 32;
using Elements = std::array<std::array<int, 16>, 16>;
/// Four registers of two elements for each lane.
using Registers = std::array<std::array<std::array<int, 2>, 4>, kLanes>;

Elements numbered(int seed) {
  Elements elements{};
  for (int row = 0; row < 16; ++row) {
    for (int column = 0; column < 16; ++column)
      elements[std::size_t(row)][std::size_t(column)] = (row * 16 + column) * 7 % 97 + seed;
  }
  return elements;
}

/// ldmatrix.x4: lane 8 i + r passes the address of row r of matrix i. Lane l receives elements (l /
/// 4, 2 (l % 4)) and the next one of each matrix, or of its transpose.
Registers load(const Elements& from, Position (*first)(int), bool transposed) {
  const auto element = [&](int matrix, int row, int column) {
    const Position at = first(matrix * 8 + row);
    return from.at(std::size_t(at.row)).at(std::size_t(at.column + column));
  };
  Registers registers{};
  for (int lane = 0; lane < kLanes; ++lane) {
    for (int matrix = 0; matrix < 4; ++matrix) {
      for (int e = 0; e < 2; ++e) {
        const int row = lane / 4, column = lane % 4 * 2 + e;
        registers[std::size_t(lane)][std::size_t(matrix)][std::size_t(e)] =
            transposed ? element(matrix, column, row) : element(matrix, row, column);
      }
    }
  }
  return registers;
}

/// Operand A of mma.m16n8k16: the registers are its quarters top left, bottom left, top right,
/// bottom right.
void expect_a(const Registers& registers, const std::function<int(int row, int k)>& a) {
  for (int lane = 0; lane < kLanes; ++lane) {
    const int g = lane / 4, t = lane % 4;
    for (int i = 0; i < 4; ++i) {
      for (int e = 0; e < 2; ++e) {
        const int row = g + i % 2 * 8, k = 2 * t + e + i / 2 * 8;
        ASSERT_EQ(registers[std::size_t(lane)][std::size_t(i)][std::size_t(e)], a(row, k))
            << lane << ", " << i;
      }
    }
  }
}

/// Two adjacent operands B: the upper and the lower half of each.
void expect_b_pair(const Registers& registers, const std::function<int(int k, int column)>& b) {
  for (int lane = 0; lane < kLanes; ++lane) {
    const int g = lane / 4, t = lane % 4;
    for (int i = 0; i < 4; ++i) {
      for (int e = 0; e < 2; ++e) {
        const int k = 2 * t + e + i % 2 * 8, column = g + i / 2 * 8;
        ASSERT_EQ(registers[std::size_t(lane)][std::size_t(i)][std::size_t(e)], b(k, column))
            << lane << ", " << i;
      }
    }
  }
}

TEST(CudaFragment, is_loaded_by_its_lane_for_a) {
  const Elements stored = numbered(0);
  const auto at = [&](int row, int column) {
    return stored[std::size_t(row)][std::size_t(column)];
  };
  expect_a(load(stored, ldmatrix_column_order, false), [&](int row, int k) { return at(row, k); });
  expect_a(load(stored, ldmatrix_row_order, true), [&](int row, int k) { return at(k, row); });
}

TEST(CudaFragment, is_loaded_by_its_lane_for_two_b) {
  const Elements stored = numbered(3);
  const auto at = [&](int row, int column) {
    return stored[std::size_t(row)][std::size_t(column)];
  };
  expect_b_pair(load(stored, ldmatrix_column_order, true),
                [&](int k, int column) { return at(k, column); });
  expect_b_pair(load(stored, ldmatrix_row_order, false),
                [&](int k, int column) { return at(column, k); });
}

/// PTX manual: row g, and g + 8 for the third and fourth element; columns 2t and 2t + 1.
TEST(CudaFragment, covers_each_product_element_once) {
  for (const int elements : {4, 2}) {  // 16 x 8 of mma.m16n8k16, 8 x 8 of mma.m8n8k4
    std::vector<int> seen(std::size_t(kLanes * elements));
    for (int lane = 0; lane < kLanes; ++lane) {
      for (int e = 0; e < elements; ++e) {
        const auto [row, column] = product_element(lane, e);
        ASSERT_EQ(row, lane / 4 + (e >= 2 ? 8 : 0));
        ASSERT_EQ(column, 2 * (lane % 4) + (e & 1));
        ++seen.at(std::size_t(row * 8 + column));
      }
    }
    EXPECT_EQ(seen, std::vector<int>(seen.size(), 1));
  }
}

TEST(CudaFragment, covers_each_tile_of_warps_once) {
  const struct {
    int warps, across;
  } blocks[] = {{4, 1}, {4, 2}, {8, 4}};  // project(), gram and reconstruct_float16(), rotate()
  for (const auto& [warps, across] : blocks) {
    const int width = 32 * across, height = 32 * warps / across;
    std::vector<int> seen(std::size_t(width * height));
    for (int warp = 0; warp < warps; ++warp) {
      const auto [row, column] = warp_tile(warp, across);
      for (int i = 0; i < 32; ++i) {
        for (int j = 0; j < 32; ++j) ++seen.at(std::size_t((row + i) * width + column + j));
      }
    }
    EXPECT_EQ(seen, std::vector<int>(seen.size(), 1));
  }
}

}  // namespace
}  // namespace eckart::compute::cuda::tensor_core
