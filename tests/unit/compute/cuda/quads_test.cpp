#include "compute/cuda/layout/quads.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "compute/cuda/layout/packing.hpp"
#include "compute/cuda/layout/tensor_core.hpp"

namespace eckart::compute::cuda {
namespace {

TEST(CudaQuad, covers_each_element_of_a_warp_once) {
  std::vector<int> seen(32 * 32);
  for (int lane = 0; lane < 32; ++lane) {
    for (int q = 0; q < QuadLayout::kCount; ++q) {
      for (int e = 0; e < kQuadSamples; ++e) {
        const int row = QuadLayout::origin(lane).row + QuadLayout::offset(q).row;
        const int column = QuadLayout::origin(lane).column + QuadLayout::offset(q).column + e;
        ++seen.at(std::size_t(row * 32 + column));
      }
    }
    EXPECT_EQ(QuadLayout::origin(lane).column % kQuadSamples, 0) << "aligned";
  }
  EXPECT_EQ(seen, std::vector<int>(32 * 32, 1));
}

/// A lane's elements of a warp's products: two rows of four products, 16 x 8 each.
using Products = std::array<std::array<std::array<int, 4>, 4>, 2>;

Products products_of(int lane) {
  Products products{};
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 4; ++j) {
      for (int e = 0; e < 4; ++e) {
        const Position at = tensor_core::product_element(lane, e);
        products[std::size_t(i)][std::size_t(j)][std::size_t(e)] =
            (16 * i + at.row) * 32 + 8 * j + at.column;
      }
    }
  }
  return products;
}

/// The exchange of reconstruct_float16(): each lane gives its neighbor the elements that it needs.
TEST(CudaQuad, contains_the_elements_at_its_position) {
  const auto pair = [](int lane, int q, int second) {
    const Products products = products_of(lane);
    const auto& product = products[std::size_t(QuadLayout::product_row(q))]
                                  [std::size_t(QuadLayout::product_column(q) + second)];
    const auto e = std::size_t(QuadLayout::product_element(q));
    return std::array<int, 2>{product[e], product[e + 1]};
  };
  for (int lane = 0; lane < 32; ++lane) {
    const bool odd = lane % 2 != 0;
    for (int q = 0; q < QuadLayout::kCount; ++q) {
      const auto received = pair(lane ^ 1, q, odd ? 1 : 0);
      const auto own = pair(lane, q, odd ? 1 : 0);
      const std::array<int, 4> values = odd ? std::array{received[0], received[1], own[0], own[1]}
                                            : std::array{own[0], own[1], received[0], received[1]};
      const int row = QuadLayout::origin(lane).row + QuadLayout::offset(q).row;
      const int column = QuadLayout::origin(lane).column + QuadLayout::offset(q).column;
      for (int e = 0; e < kQuadSamples; ++e)
        ASSERT_EQ(values[std::size_t(e)], row * 32 + column + e) << lane << ", " << q;
    }
  }
}

TEST(CudaQuad, ends_at_the_end_of_the_row) {
  for (int cols = 1; cols < 40; ++cols) {
    int samples = 0;
    for (int column = 0; column < 64; column += kQuadSamples)
      samples += samples_in_quad(cols - column);
    EXPECT_EQ(samples, cols);
  }
}

TEST(CudaQuad, indexes_every_sample_once) {
  for (const int channels : {1, 3}) {
    const ImageShape shape{7, 11, channels, Depth::u8};
    std::vector<int> seen(shape.samples());
    for (int channel = 0; channel < channels; ++channel) {
      const PlaneLayout plane = packed_plane(shape, 0, channel);
      for (int row = 0; row < shape.rows; ++row) {
        for (int col = 0; col < shape.cols; ++col) {
          const auto index = std::size_t(sample_index(plane, row, col));
          ASSERT_EQ(index, std::size_t((row * 11 + col) * channels + channel));
          ++seen.at(index);
        }
      }
    }
    EXPECT_EQ(seen, std::vector<int>(seen.size(), 1));
  }
}

/// The kernel then loads four samples at once for every quad.
TEST(CudaQuad, is_a_word_only_if_complete_and_aligned) {
  for (const Depth depth : {Depth::u8, Depth::u16, Depth::f32}) {
    for (const int channels : {1, 3}) {
      for (int cols = 1; cols < 20; ++cols) {
        for (const std::size_t offset : {0U, 4U, 8U, 16U, 20U}) {
          const PlaneLayout plane = packed_plane({5, cols, channels, depth}, offset, 0);
          bool all = channels == 1;
          for (int row = 0; row < 5; ++row) {
            for (int column = 0; column < cols; column += kQuadSamples) {
              const std::int64_t at =
                  plane.offset_bytes + sample_index(plane, row, column) * plane.sample_bytes;
              all = all && samples_in_quad(cols - column) == kQuadSamples &&
                    at % (std::int64_t{kQuadSamples} * plane.sample_bytes) == 0;
            }
          }
          EXPECT_EQ(has_aligned_quads(plane), all)
              << plane.sample_bytes << ", " << cols << ", " << channels << ", " << offset;
        }
      }
    }
  }
}

}  // namespace
}  // namespace eckart::compute::cuda
