#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "codec/jpeg/encoding_tables.hpp"
#include "compute/cuda/layout/jpeg_output_batch.hpp"

namespace eckart::compute::cuda {

/// What is found about an image while it is encoded. Zeros before.
struct JpegScan {
  unsigned long long squared_error;  ///< of the decoded file, if it is compared
  std::uint32_t bits;                ///< of the data, without stuffed zeros and the last ones
  std::uint32_t stuffed_zeros;
  std::uint32_t is_left_out;  ///< not 0: it needs too many bits, or a value is out of range

  ECKART_HOST_DEVICE std::uint32_t unstuffed_bytes() const { return (bits + 7) / 8; }
};

/// The data of an image. `bytes` is 0 if it was left out, or there was no room.
struct JpegData {
  std::int64_t offset;
  std::uint64_t squared_error;
  std::uint32_t bytes;
};

/// A batch of images to encode. All pointers are device pointers, or pinned memory of the host. See
/// JpegOutputBatch.
struct DeviceJpegOutputs {
  const JpegOutput* images;
  int count;
  const codec::jpeg::EncodingTables* tables;
  const std::uint8_t* pixels;
  const std::uint8_t* originals;  ///< null: images are not compared
  std::uint8_t* samples;          ///< 64 for each block, as the planes of Layout
  std::int16_t* coefficients;     ///< 64 for each block
  std::uint32_t* bits;            ///< of each block; then the sum of those before
  std::uint32_t* words;           ///< kJpegPieceBytes for each piece; zeros before
  std::uint32_t* zeros;           ///< stuffed into each piece; then the sum of those before
  JpegScan* scans;                ///< of each image
};

// The steps of encoding, in this order. Asynchronous. They throw as check_launch() does.

/// Converts pixels to samples of YCbCr, or copies gray.
void convert_jpeg_pixels(const DeviceJpegOutputs& jpegs, int max_blocks, cudaStream_t stream);

/// Transforms and quantizes samples, eight threads for each block. If images are compared, replaces
/// samples by those of the decoded file.
void quantize_jpeg_blocks(const DeviceJpegOutputs& jpegs, int max_blocks, cudaStream_t stream);

/// If images are compared, adds up the squared errors, one thread for each pixel.
void compare_jpeg_pixels(const DeviceJpegOutputs& jpegs, int max_pixels, cudaStream_t stream);

/// Writes the data without stuffed zeros, one thread for each block.
void write_jpeg_bits(const DeviceJpegOutputs& jpegs, int max_blocks, cudaStream_t stream);

/// Chooses where the data of each image are put, image after image, in `capacity` bytes, and writes
/// them with stuffed zeros.
void write_jpeg_data(const DeviceJpegOutputs& jpegs, int max_pieces, std::int64_t capacity,
                     JpegData* data, std::uint8_t* out, cudaStream_t stream);

}  // namespace eckart::compute::cuda
