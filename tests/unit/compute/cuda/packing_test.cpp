#include "compute/cuda/layout/packing.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "compute/cuda/layout/spectrum_format.hpp"
#include "compute/cuda/layout/subspace_sizes.hpp"
#include "compute/cuda/plan/subspace_columns.hpp"

namespace eckart::compute::cuda {
namespace {

const ImageShape kShapes[] = {{1, 1, 1, Depth::u8},   {5, 3, 1, Depth::u8},  {3, 5, 3, Depth::u8},
                              {7, 7, 3, Depth::u16},  {4, 9, 1, Depth::u16}, {9, 4, 3, Depth::u16},
                              {16, 16, 1, Depth::u8}, {1, 6, 3, Depth::u8}};

TEST(CudaPacking, places_images_contiguously_and_aligned_to_16_bytes) {
  std::size_t offset = 0;
  for (const ImageShape& shape : kShapes) {
    EXPECT_EQ(offset % 16, 0U);
    EXPECT_GE(packed_bytes(shape), shape.bytes());
    EXPECT_LT(packed_bytes(shape), shape.bytes() + 16);
    offset += packed_bytes(shape);
  }
}

TEST(CudaPacking, covers_the_samples_of_an_image_once_by_its_planes) {
  for (const ImageShape& shape : kShapes) {
    std::vector<int> seen(shape.samples());
    for (int channel = 0; channel < shape.channels; ++channel) {
      const PlaneLayout plane = packed_plane(shape, 48, channel);
      EXPECT_EQ(plane.offset_bytes, 48);
      EXPECT_EQ(plane.sample_bytes, int(shape.depth));
      EXPECT_GE(plane.m(), plane.n());
      EXPECT_EQ(plane.m() * plane.n(), shape.rows * shape.cols);
      for (int i = 0; i < plane.m(); ++i) {
        for (int j = 0; j < plane.n(); ++j) {
          const int row = shape.rows >= shape.cols ? i : j, col = shape.rows >= shape.cols ? j : i;
          const auto at = std::size_t(plane.element_index(i, j));
          ASSERT_EQ(at, std::size_t((row * shape.cols + col) * shape.channels + channel));
          ++seen.at(at);
        }
      }
    }
    EXPECT_EQ(seen, std::vector<int>(shape.samples(), 1));
  }
}

TEST(CudaPacking, scales_samples_below_256_for_float16) {
  EXPECT_EQ(float16_scale(1), 1);
  EXPECT_LT(65535 * float16_scale(2), 256);
  EXPECT_GE(65535 * float16_scale(2), 127) << "not smaller than necessary";
}

TEST(CudaPacking, gives_every_tile_its_own_error) {
  const TileErrorLayout errors{.padded_planes = 5, .tiles = 6};
  std::vector<int> seen(errors.count(3));
  for (std::size_t rank = 0; rank < 3; ++rank) {
    for (std::size_t plane_index = 0; plane_index < errors.padded_planes; ++plane_index) {
      for (std::size_t tile = 0; tile < errors.tiles; ++tile)
        ++seen.at(errors.first(plane_index, rank) + tile);
    }
    EXPECT_EQ(errors.first(0, rank), rank * errors.padded_planes * errors.tiles)
        << "rank-major, as the kernels write them";
  }
  EXPECT_EQ(seen, std::vector<int>(5 * 6 * 3, 1));
}

/// Memory for values is reserved before it is known which solvers will write them.
TEST(CudaPacking, reserves_enough_values_for_every_solver) {
  for (int n = 1; n <= 700; n += (n < 100 ? 1 : 13)) {
    for (int rank = 1; rank <= n; rank += 7) {
      const int columns = cuda_subspace_columns(rank, 192);
      if (4 * columns > 3 * n) continue;  // gram is chosen in this case
      const int rayleigh_quotients = align_up(rank);
      EXPECT_LE(std::size_t(columns + rayleigh_quotients), max_values_per_plane(n))
          << n << ", rank " << rank;
    }
    EXPECT_LE(std::size_t(n), max_values_per_plane(n));
  }
}

}  // namespace
}  // namespace eckart::compute::cuda
