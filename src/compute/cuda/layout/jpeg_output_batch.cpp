#include "compute/cuda/layout/jpeg_output_batch.hpp"

#include <algorithm>

#include "codec/jpeg/block_writer.hpp"

namespace eckart::compute::cuda {

// The number of a bit in an image has 32 bits.
static_assert(JpegOutputBatch::kMaxEncodedBlocks * codec::jpeg::kMaxBlockBits <
              (std::int64_t(1) << 32));
static_assert(JpegOutputBatch::kMaxEncodedBlocks * kJpegBlockWords * 32 < (std::int64_t(1) << 32));

void JpegOutputBatch::add(const codec::jpeg::Layout& layout, std::int64_t pixels,
                          std::int64_t original) {
  const JpegOutput image{layout, pixels, original, blocks_, pieces_, int(layout.blocks())};
  images_.push_back(image);
  blocks_ += image.blocks;
  pieces_ += image.max_pieces();
  max_blocks_ = std::max(max_blocks_, image.blocks);
  max_pixels_ = std::max(max_pixels_, layout.rows * layout.cols);
  max_pieces_ = std::max(max_pieces_, image.max_pieces());
}

}  // namespace eckart::compute::cuda
