#include "compute/cuda/layout/png_input_batch.hpp"

#include <algorithm>

#include "codec/png/inflate.hpp"
#include "compute/cuda/layout/batch_bounds.hpp"
#include "core/round_up.hpp"

namespace eckart::compute::cuda {
PngInputBatch plan_png_input_batch(std::span<const PngInput> inputs, std::size_t stream_bytes,
                                   std::size_t pixels_bytes) {
  constexpr std::size_t kWordBytes = 4, kRowAlignment = 16;
  PngInputBatch batch;
  batch.images.reserve(inputs.size());
  for (const PngInput& input : inputs) {
    const ImageShape& shape = input.shape;
    require_fits(shape.rows > 0 && shape.cols > 0 && (shape.channels == 1 || shape.channels == 3) &&
                 shape.depth == Depth::u8);
    const std::size_t row_bytes = std::size_t(shape.rows) + shape.bytes();
    require_fits(row_bytes <= std::size_t(codec::png::kMaxInflatedBytes));
    require_fits(input.stream_bytes <= std::size_t(codec::png::kMaxInflateBytes));
    const std::size_t whole_words = round_up(input.stream_bytes, kWordBytes);
    require_fits(input.stream_offset % kWordBytes == 0 &&
                 is_within(input.stream_offset, whole_words, stream_bytes));
    require_fits(is_within(input.pixels_offset, shape.bytes(), pixels_bytes));
    batch.images.push_back({.first_word = std::int64_t(input.stream_offset / kWordBytes),
                            .stream_bytes = std::int32_t(input.stream_bytes),
                            .rows = shape.rows,
                            .cols = shape.cols,
                            .channels = shape.channels,
                            .first_row_byte = std::int64_t(batch.row_bytes),
                            .first_pixel = std::int64_t(input.pixels_offset)});
    batch.stream_bytes = std::max(batch.stream_bytes, input.stream_offset + whole_words);
    batch.row_bytes += round_up(row_bytes, kRowAlignment);
  }
  return batch;
}

}  // namespace eckart::compute::cuda
