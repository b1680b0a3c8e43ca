#include "compute/cuda/layout/jpeg_output_batch.hpp"

#include <gtest/gtest.h>

namespace eckart::compute::cuda {
namespace {

using codec::jpeg::Layout;

TEST(JpegOutputBatch, places_images_one_after_the_other) {
  JpegOutputBatch batch;
  batch.add(Layout{208, 176, 1, 1, 1}, 0, 16);
  batch.add(Layout{9, 8, 3, 1, 1}, 40000, 50000);
  batch.add(Layout{17, 16, 3, 2, 2}, 60000, 60000);
  ASSERT_EQ(batch.images().size(), 3u);
  const JpegOutput &gray = batch.images()[0], &second = batch.images()[1],
                   &last = batch.images()[2];
  EXPECT_EQ(gray.blocks, 26 * 22);
  EXPECT_EQ(gray.max_pieces(), 18);
  EXPECT_EQ(second.first_block, gray.blocks);
  EXPECT_EQ(second.first_piece, gray.max_pieces());
  EXPECT_EQ(second.original, 50000);
  EXPECT_EQ(last.first_block, gray.blocks + 2 * 3);
  EXPECT_EQ(last.blocks, 2 * 6);
  EXPECT_EQ(batch.blocks(), last.first_block + last.blocks);
  EXPECT_EQ(batch.pieces(), 18 + 1 + 1);
  EXPECT_EQ(batch.max_blocks(), gray.blocks);
  EXPECT_EQ(batch.max_pixels(), 208 * 176);
  EXPECT_EQ(batch.max_pieces(), 18);
}

/// Data of one image are not in the pieces of another.
TEST(JpegOutputBatch, has_room_for_all_bits_of_an_image_in_its_pieces) {
  for (const int rows : {1, 8, 100, 1000}) {
    JpegOutputBatch batch;
    batch.add(Layout{rows, 77, 3, 2, 2}, 0, 0);
    const JpegOutput& image = batch.images()[0];
    EXPECT_LE(image.max_bits() / 8, std::uint32_t(image.max_pieces()) * kJpegPieceBytes);
  }
}

TEST(JpegOutputBatch, encodes_no_huge_image) {
  EXPECT_TRUE(JpegOutputBatch::can_encode(Layout{4000, 6000, 3, 2, 2}));
  EXPECT_FALSE(JpegOutputBatch::can_encode(Layout{10000, 8000, 1, 1, 1}));
}

}  // namespace
}  // namespace eckart::compute::cuda
