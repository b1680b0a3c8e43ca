#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "codec/png/irregularity.hpp"
#include "compute/cuda/layout/png_input_batch.hpp"

namespace eckart::compute::cuda {

/// A batch of PNGs on the device: all pointers are device pointers. See PngInputBatch.
struct DevicePngInputs {
  const PngInputImage* images;
  int count;
  const std::uint32_t* words;              ///< streams of all images
  std::uint8_t* rows;                      ///< inflated, each behind its filter byte
  std::uint8_t* pixels;                    ///< results: gray, or interleaved RGB
  codec::png::Irregularity* irregularity;  ///< of each image
};

// The steps of decoding, in this order, with a warp for each image. An image that is irregular is
// left out of the second. Asynchronous. They throw as check_launch() does.

/// Inflates the rows, and writes all of `irregularity`. The rows must be initialized,
/// because words are read of which some bytes are not written, or not yet.
void inflate_pngs(const DevicePngInputs& pngs, cudaStream_t stream);

/// Reverses the filters of the rows.
void unfilter_pngs(const DevicePngInputs& pngs, cudaStream_t stream);

}  // namespace eckart::compute::cuda
