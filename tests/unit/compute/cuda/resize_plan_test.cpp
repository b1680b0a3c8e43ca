// Computes on the CPU what the kernel computes, sample by sample, and compares it with
// preparation::resize().
#include "compute/cuda/layout/resize_plan.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "preparation/resize.hpp"
#include "tests/unit/codec/test_images.hpp"

namespace eckart::compute::cuda {
namespace {

template <class T>
Image run_pass(const Image& in, const FilterPass& pass, const ImageShape& shape,
               const FilterTables& filters) {
  Image out(shape);
  const auto* from = reinterpret_cast<const T*>(in.data());
  auto* to = reinterpret_cast<T*>(out.data());
  for (std::int64_t i = 0; i < pass.out_samples(); ++i) {
    const int x = pass.position(i);
    const FilterWindow window = filters.windows[std::size_t(pass.windows + x)];
    const auto* weight =
        &filters.weights[std::size_t(pass.weights + std::int64_t(x) * pass.max_count)];
    std::int64_t sum = 0;
    for (int t = 0; t < window.count; ++t)
      sum += std::int64_t(from[pass.first_in_index(i, window.first + t)]) * weight[t];
    to[i] = T(round_filtered(sum, pass.fraction_bits, peak(shape.depth)));
  }
  return out;
}

Image run(const ResizePlan& plan, Image image) {
  for (std::size_t i = 0; i < plan.passes.size(); ++i) {
    const auto run_pass_of =
        image.shape().depth == Depth::u8 ? run_pass<std::uint8_t> : run_pass<std::uint16_t>;
    EXPECT_EQ(plan.passes[i].out_samples(), std::int64_t(plan.shapes[i + 1].samples()));
    image = run_pass_of(image, plan.passes[i], plan.shapes[i + 1], plan.filters);
  }
  return image;
}

TEST(ResizePlan, makes_the_image_of_the_cpu) {
  preparation::WeightCache weights;
  for (const Depth depth : {Depth::u8, Depth::u16}) {
    for (const int channels : {1, 3}) {
      const ImageShape shape{31, 17, channels, depth};
      for (const auto& [rows, cols] :
           {std::pair(7, 5), {64, 33}, {3, 40}, {50, 1}, {31, 9}, {8, 17}})
        EXPECT_TRUE(
            test::same(run(plan_resize(shape, rows, cols, weights), test::noise_image(shape)),
                       preparation::resize(test::noise_image(shape), rows, cols, weights)))
            << rows << " x " << cols << ", " << channels << " channels";
    }
  }
}

TEST(ResizePlan, has_no_pass_for_a_side_that_keeps_its_length) {
  preparation::WeightCache weights;
  const ImageShape shape{30, 20, 3, Depth::u8};
  EXPECT_EQ(plan_resize(shape, 15, 10, weights).passes.size(), 2u);
  EXPECT_EQ(plan_resize(shape, 30, 10, weights).passes.size(), 1u);
  EXPECT_EQ(plan_resize(shape, 15, 20, weights).passes.size(), 1u);
  EXPECT_EQ(plan_resize(shape, 30, 20, weights).passes.size(), 0u);
}

TEST(ResizePlan, has_the_bytes_of_all_images) {
  preparation::WeightCache weights;
  EXPECT_EQ(plan_resize({30, 20, 3, Depth::u16}, 15, 10, weights).image_bytes(),
            (30u * 20 + 30 * 10 + 15 * 10) * 3 * 2);
}

}  // namespace
}  // namespace eckart::compute::cuda
