#include "compute/cuda/layout/triplets.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "compute/cuda/layout/packing.hpp"

namespace eckart::compute::cuda {
namespace {

TEST(CudaTriplets, has_room_for_all_numbers_of_a_plane) {
  for (const TripletLayout& layout : {TripletLayout{4, 3, 2}, {5, 4, 3}, {32, 32, 1}}) {
    EXPECT_EQ(layout.left_offset(), std::size_t(8 * layout.rank));
    EXPECT_EQ(layout.right_offset(), std::size_t((8 + 4 * layout.m) * layout.rank));
    const auto end = std::size_t((8 + 4 * (layout.m + layout.n)) * layout.rank);
    EXPECT_GE(layout.plane_bytes(), end);
    EXPECT_LT(layout.plane_bytes(), end + 8);
    EXPECT_EQ(layout.plane_bytes() % alignof(double), 0U) << "where the next plane begins";
  }
}

/// Number r of vector i is 10 i + r in the left ones of a plane, and 100 more in the right ones.
std::vector<std::byte> make_triplets(const TripletLayout& layout, int m, int n) {
  std::vector<std::byte> bytes(layout.plane_bytes());
  const auto write = [&](std::size_t offset, int i, auto value) {
    std::memcpy(bytes.data() + offset + std::size_t(i) * sizeof value, &value, sizeof value);
  };
  for (int i = 0; i < layout.rank; ++i) {
    write(0, i, 9.0 - i);
    for (int r = 0; r < m; ++r) write(layout.left_offset(), i * m + r, float(10 * i + r));
    for (int r = 0; r < n; ++r) write(layout.right_offset(), i * n + r, float(100 + 10 * i + r));
  }
  return bytes;
}

TEST(CudaTriplets, has_the_left_vectors_of_a_tall_plane_in_u) {
  const TripletLayout layout{6, 4, 3};
  const eckart::Factors factors = read_triplets(make_triplets(layout, 3, 2).data(), layout,
                                                packed_plane({3, 2, 1, Depth::u8}, 0, 0), 2, 50);
  EXPECT_EQ(factors.rows, 3);
  EXPECT_EQ(factors.cols, 2);
  EXPECT_EQ(factors.s, (std::vector<double>{9, 8}));
  EXPECT_EQ(factors.u, (std::vector<float>{0, 10, 1, 11, 2, 12}));
  EXPECT_EQ(factors.vt, (std::vector<float>{100, 101, 110, 111}));
  EXPECT_EQ(factors.squared_norm, 50);
}

TEST(CudaTriplets, has_the_right_vectors_of_a_wide_plane_in_u) {
  const TripletLayout layout{3, 2, 2};
  const eckart::Factors factors = read_triplets(make_triplets(layout, 3, 2).data(), layout,
                                                packed_plane({2, 3, 3, Depth::u8}, 0, 1), 2, 50);
  EXPECT_EQ(factors.rows, 2);
  EXPECT_EQ(factors.cols, 3);
  EXPECT_EQ(factors.u, (std::vector<float>{100, 110, 101, 111}));
  EXPECT_EQ(factors.vt, (std::vector<float>{0, 1, 2, 10, 11, 12}));
}

TEST(CudaTriplets, undoes_the_scale_of_floats_in_the_norm) {
  const TripletLayout layout{3, 2, 1};
  const eckart::Factors factors =
      read_triplets(make_triplets(layout, 3, 2).data(), layout,
                    packed_plane({3, 2, 1, Depth::f32}, 0, 0, 4), 1, 80);
  EXPECT_EQ(factors.squared_norm, 5);
  EXPECT_EQ(factors.s, (std::vector<double>{9})) << "is in levels already";
}

TEST(CudaTriplets, matches_the_residual_by_one_scale) {
  eckart::Factors factors{
      .rows = 2, .cols = 2, .s = {4, 3}, .u = {}, .vt = {}, .squared_norm = 126};
  match_residual(factors, 26);
  EXPECT_EQ(factors.s, (std::vector<double>{8, 6}));
  factors.s = {0, 0};
  factors.squared_norm = 0;
  match_residual(factors, 0);
  EXPECT_EQ(factors.s, (std::vector<double>{0, 0})) << "of a black image";
}

}  // namespace
}  // namespace eckart::compute::cuda
