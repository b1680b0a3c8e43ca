#include "compute/cuda/layout/png_batch.hpp"

#include <algorithm>

#include "core/round_up.hpp"

namespace eckart::compute::cuda {
namespace {

std::size_t filtered_size(const ImageShape& shape) {
  return std::size_t(shape.rows) + std::size_t(shape.rows) * std::size_t(shape.cols) *
                                       std::size_t(shape.channels) * std::size_t(shape.depth);
}

}  // namespace

bool PngBatch::can_encode(const ImageShape& shape) {
  return !is_float(shape.depth) &&
         filtered_size(shape) <= std::size_t(kMaxPieces) * codec::png::kBlockBytes;
}

void PngBatch::add(const ImageShape& shape, std::int64_t pixels) {
  const std::size_t size = filtered_size(shape);
  PngImage image{.pixels = pixels,
                 .row_bytes = std::int64_t(shape.cols) * shape.channels * int(shape.depth),
                 .pixel_bytes = shape.channels * int(shape.depth),
                 .sample_bytes = int(shape.depth),
                 .first_piece = int(pieces_.size()),
                 .pieces = 0};
  for (std::size_t begin = 0; begin < size; begin += codec::png::kBlockBytes, ++image.pieces) {
    const std::size_t bytes = std::min(codec::png::kBlockBytes, size - begin);
    pieces_.push_back({.begin = std::int64_t(begin),
                       .filtered = std::int64_t(filtered_bytes_),
                       .block = std::int64_t(block_bytes_),
                       .size = std::uint32_t(bytes),
                       .image = int(images_.size()),
                       .is_first = begin == 0,
                       .is_last = begin + bytes == size});
    filtered_bytes_ += round_up(bytes, kPngAlignment);
    block_bytes_ += round_up(codec::png::max_chunk_bytes(bytes), kPngAlignment);
  }
  images_.push_back(image);
}

}  // namespace eckart::compute::cuda
