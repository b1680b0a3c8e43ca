#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "codec/jpeg/irregularity.hpp"
#include "codec/jpeg/tables.hpp"
#include "compute/cuda/layout/jpeg_batch.hpp"

namespace eckart::compute::cuda {

/// A batch of JPEGs on the device: all pointers are device pointers. See JpegBatch.
struct DeviceJpegs {
  const JpegImage* images;
  int count;
  const codec::jpeg::Tables* tables;
  const std::uint32_t* words;               ///< data of all images
  std::int16_t* coefficients;               ///< 64 for each block
  std::uint8_t* samples;                    ///< 64 for each block, as the planes of Layout
  std::uint8_t* pixels;                     ///< results: gray, or interleaved RGB
  codec::jpeg::Irregularity* irregularity;  ///< of each image
};

// The steps of decoding, in this order. An image that is irregular is left out of the later steps.
// Asynchronous. They throw as check_launch() does.

/// Decodes the entropy-coded data, a thread for each segment of an image, and writes all of
/// `irregularity`. The coefficients must be zeros. `threads_per_image`: see
/// jpeg_threads_per_image().
void decode_jpeg_scans(const DeviceJpegs& jpegs, int threads_per_image, cudaStream_t stream);

/// Dequantizes and transforms blocks, eight threads for each.
void transform_jpeg_blocks(const DeviceJpegs& jpegs, int max_blocks, cudaStream_t stream);

/// Interpolates chroma and converts to RGB, one thread for each pixel.
void write_jpeg_pixels(const DeviceJpegs& jpegs, int max_pixels, cudaStream_t stream);

}  // namespace eckart::compute::cuda
