#include "compute/cuda/layout/jpeg_batch.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace eckart::compute::cuda {
namespace {

using codec::jpeg::JpegHeader;

JpegHeader header_of(int rows, int cols, int channels, std::uint16_t quantization = 1) {
  JpegHeader header;
  header.layout = {.rows = rows, .cols = cols, .channels = channels};
  header.tables = {};
  header.tables.quantization[0][0] = quantization;
  return header;
}

TEST(JpegBatch, places_images_one_after_the_other) {
  const JpegHeader gray = header_of(208, 176, 1), color = header_of(9, 8, 3);
  const std::vector<JpegInput> inputs{{&gray, 16, 5001, 0}, {&color, 8000, 77, 40000}};
  const JpegBatch batch = plan_jpeg_batch(inputs, 8080, 40216);
  ASSERT_EQ(batch.images.size(), 2u);
  EXPECT_EQ(batch.images[0].first_block, 0);
  EXPECT_EQ(batch.images[1].first_block, 26 * 22);
  EXPECT_EQ(batch.images[1].first_word, 2000);
  EXPECT_EQ(batch.images[1].data_bytes, 77);
  EXPECT_EQ(batch.images[1].first_pixel, 40000);
  EXPECT_EQ(batch.blocks, 26 * 22 + 2 * 3);
  EXPECT_EQ(batch.max_blocks, 26 * 22);
  EXPECT_EQ(batch.max_pixels, 208 * 176);
  EXPECT_EQ(batch.data_bytes, 8080u);
}

TEST(JpegBatch, builds_equal_tables_once) {
  const JpegHeader a = header_of(8, 8, 1, 1), b = header_of(8, 8, 1, 2), c = header_of(9, 9, 1, 1);
  const std::vector<JpegInput> inputs{
      {&a, 0, 4, 0}, {&b, 4, 4, 64}, {&b, 8, 4, 128}, {&c, 12, 4, 192}};
  const JpegBatch batch = plan_jpeg_batch(inputs, 16, 400);
  ASSERT_EQ(batch.tables.size(), 2u);
  std::vector<int> indices;
  for (const JpegImage& image : batch.images) indices.push_back(image.tables);
  EXPECT_EQ(indices, (std::vector<int>{0, 1, 1, 0}));
  EXPECT_EQ(batch.tables[1].quantization[0][0], 2);
}

TEST(JpegBatch, refuses_images_outside_of_its_buffers) {
  const JpegHeader header = header_of(8, 8, 1);
  const auto plan = [&](const JpegInput& input) {
    return plan_jpeg_batch(std::vector{input}, 100, 1000);
  };
  EXPECT_NO_THROW(plan({&header, 96, 4, 936}));
  EXPECT_THROW(plan({&header, 96, 5, 0}), std::logic_error);
  EXPECT_THROW(plan({&header, 98, 2, 0}), std::logic_error);
  EXPECT_THROW(plan({&header, std::size_t(0) - 4, 4, 0}), std::logic_error);
  EXPECT_THROW(plan({&header, 0, 4, 937}), std::logic_error);
  for (const JpegHeader& wrong :
       {header_of(0, 8, 1), header_of(8, 8, 2), header_of(65500, 65500, 1)})
    EXPECT_THROW(plan({&wrong, 0, 4, 0}), std::logic_error);
}

TEST(JpegBatch, shares_warps_only_among_many_images) {
  EXPECT_EQ(jpeg_threads_per_image(1, 132), 32);
  EXPECT_EQ(jpeg_threads_per_image(1056, 132), 32);
  EXPECT_EQ(jpeg_threads_per_image(1057, 132), 16);
  EXPECT_EQ(jpeg_threads_per_image(4096, 132), 8);
  EXPECT_EQ(jpeg_threads_per_image(60000, 132), 1);
}

}  // namespace
}  // namespace eckart::compute::cuda
