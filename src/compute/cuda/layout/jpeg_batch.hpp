#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "codec/jpeg/header.hpp"
#include "codec/jpeg/tables.hpp"
#include "compute/cuda/layout/warp.hpp"

namespace eckart::compute::cuda {

/// A JPEG of a batch, as a loader prepares it.
struct JpegInput {
  const codec::jpeg::JpegHeader* header;
  std::size_t data_offset;    ///< of the result of codec::jpeg::unstuff(); a multiple of 4
  std::size_t data_bytes;     ///< of it, without the bytes that fill its last word
  std::size_t pixels_offset;  ///< where the pixels are written, in bytes
};

/// The same for kernels.
struct JpegImage {
  codec::jpeg::Layout layout;
  std::int32_t tables;      ///< index
  std::int64_t first_word;  ///< of the data
  std::int32_t data_bytes;
  std::int64_t first_block;  ///< of the coefficients and of the samples
  std::int64_t first_pixel;  ///< in bytes
};

struct JpegBatch {
  std::vector<JpegImage> images;
  std::vector<codec::jpeg::Tables> tables;  ///< without duplicates
  std::size_t data_bytes = 0;               ///< up to the end of the last image's data
  std::int64_t blocks = 0;                  ///< of all images
  int max_blocks = 0, max_pixels = 0;       ///< of an image
};

/// Images of a batch at most: a kernel has a block in y for each.
constexpr std::size_t kMaxJpegImages = 65535;

/// Places the images of a batch one after the other. Throws std::logic_error if an image is not
/// within the `data_bytes` of data or the `pixels_bytes` of pixels, or there are too many.
JpegBatch plan_jpeg_batch(std::span<const JpegInput> inputs, std::size_t data_bytes,
                          std::size_t pixels_bytes);

/// How many threads decode an image, each a segment of its data: all of a warp, unless there are
/// more images than the GPU runs warps well. A power of two.
constexpr int jpeg_threads_per_image(std::size_t images, int multiprocessors) {
  constexpr std::size_t kWarpsPerMultiprocessor = 8;
  const std::size_t warps = kWarpsPerMultiprocessor * std::size_t(multiprocessors);
  int threads = kWarpSize;
  while (threads > 1 && images * std::size_t(threads) > warps * kWarpSize) threads /= 2;
  return threads;
}

}  // namespace eckart::compute::cuda
