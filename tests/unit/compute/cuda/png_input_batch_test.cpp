#include "compute/cuda/layout/png_input_batch.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace eckart::compute::cuda {
namespace {

constexpr ImageShape kGray{208, 176, 1, Depth::u8}, kColor{9, 8, 3, Depth::u8};

TEST(PngInputBatch, places_images_one_after_the_other) {
  const std::vector<PngInput> inputs{{kGray, 16, 5001, 0}, {kColor, 8000, 77, 40000}};
  const PngInputBatch batch = plan_png_input_batch(inputs, 8080, 40216);
  ASSERT_EQ(batch.images.size(), 2u);
  EXPECT_EQ(batch.images[0].first_row_byte, 0);
  EXPECT_EQ(batch.images[0].stream_bytes, 5001);
  EXPECT_EQ(batch.images[1].first_word, 2000);
  EXPECT_EQ(batch.images[1].first_pixel, 40000);
  EXPECT_EQ(batch.images[1].channels, 3);
  constexpr int kGrayRows = 208 * 177;  // a multiple of 16
  EXPECT_EQ(batch.images[1].first_row_byte, kGrayRows);
  EXPECT_EQ(batch.row_bytes, std::size_t(kGrayRows + 9 * 25 + 15));
  EXPECT_EQ(batch.stream_bytes, 8080u);
}

TEST(PngInputBatch, refuses_images_outside_of_its_buffers) {
  const auto plan = [](const PngInput& input) {
    return plan_png_input_batch(std::vector{input}, 100, 1000);
  };
  EXPECT_NO_THROW(plan({kColor, 96, 4, 784}));
  EXPECT_THROW(plan({kColor, 96, 5, 0}), std::logic_error);
  EXPECT_THROW(plan({kColor, 98, 2, 0}), std::logic_error);
  EXPECT_THROW(plan({kColor, std::size_t(0) - 4, 4, 0}), std::logic_error);
  EXPECT_THROW(plan({kColor, 0, 4, 785}), std::logic_error);
}

TEST(PngInputBatch, refuses_images_of_another_kind) {
  constexpr std::size_t kEnough = std::size_t(1) << 40;
  for (const ImageShape& wrong : {ImageShape{0, 8, 1, Depth::u8},
                                  {8, 8, 2, Depth::u8},
                                  {8, 8, 1, Depth::u16},
                                  {65500, 65500, 1, Depth::u8}})
    EXPECT_THROW(plan_png_input_batch(std::vector{PngInput{wrong, 0, 4, 0}}, kEnough, kEnough),
                 std::logic_error);
  EXPECT_THROW(plan_png_input_batch(std::vector{PngInput{kGray, 0, std::size_t(1) << 28, 0}},
                                    kEnough, kEnough),
               std::logic_error);
}

}  // namespace
}  // namespace eckart::compute::cuda
