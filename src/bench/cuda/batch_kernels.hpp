#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "bench/cuda/pixel_errors.hpp"
#include "bench/operation/batch.hpp"

namespace eckart::bench::cuda {

/// Multiplies the rows of V' by the singular values, for `images` images whose factors follow each
/// other. Asynchronous. Throws as check_launch() of compute/cuda.
void queue_scale_rows(float* factors, const BatchShape& shape, int images, cudaStream_t stream);

/// Rounds and clamps `count` values to pixels; `count` is a multiple of 4. Asynchronous. Throws as
/// check_launch() of compute/cuda.
void queue_to_pixels(const float* values, std::uint8_t* pixels, std::size_t count,
                     cudaStream_t stream);

/// Blocks of the next function for an image.
int error_blocks(const BatchShape& shape);
/// Rounds and clamps the values of all images to pixels, and compares them with the original ones.
/// Writes error_blocks() errors for each image. The number of pixels is a multiple of 4.
/// Asynchronous. Throws as check_launch() of compute/cuda.
void queue_pixels_and_errors(const float* values, const std::uint8_t* originals,
                             std::uint8_t* pixels, PixelErrors* errors, const BatchShape& shape,
                             cudaStream_t stream);
void queue_pixels_and_errors(const double* values, const std::uint8_t* originals,
                             std::uint8_t* pixels, PixelErrors* errors, const BatchShape& shape,
                             cudaStream_t stream);

}  // namespace eckart::bench::cuda
