#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/image.hpp"

namespace eckart::compute::cuda {

/// A PNG of a batch, as a loader prepares it: see codec::png::EncodedImage.
struct PngInput {
  ImageShape shape;
  std::size_t stream_offset;  ///< a multiple of 4
  std::size_t stream_bytes;   ///< without the bytes that fill its last word
  std::size_t pixels_offset;  ///< where the pixels are written, in bytes
};

/// The same for kernels.
struct PngInputImage {
  std::int64_t first_word;  ///< of the stream
  std::int32_t stream_bytes;
  std::int32_t rows, cols, channels;
  std::int64_t first_row_byte;  ///< of the inflated rows
  std::int64_t first_pixel;     ///< in bytes
};

struct PngInputBatch {
  std::vector<PngInputImage> images;
  std::size_t stream_bytes = 0;  ///< up to the end of the last image's stream
  std::size_t row_bytes = 0;     ///< of the inflated rows of all images
};

/// Places the images of a batch one after the other. Throws std::logic_error if an image is of a
/// kind or size that inflate() does not take, or is not within the `stream_bytes` of streams or the
/// `pixels_bytes` of pixels.
PngInputBatch plan_png_input_batch(std::span<const PngInput> inputs, std::size_t stream_bytes,
                                   std::size_t pixels_bytes);

}  // namespace eckart::compute::cuda
