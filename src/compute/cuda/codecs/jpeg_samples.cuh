#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "codec/jpeg/layout.hpp"

// What the kernels of the JPEG decoder and encoder share.
namespace eckart::compute::cuda {

constexpr int kJpegThreads = 256;  ///< of a block
/// Blocks of 64 samples that a block of threads transforms at a time: eight threads for each.
constexpr int kTransformedBlocks = kJpegThreads / codec::jpeg::kBlockSide;

/// The number of thread blocks for the items of an image, of which each block takes
/// `items_per_pass` at a time. It takes several times: what is the same for all items is computed
/// once.
inline unsigned jpeg_thread_blocks(std::int64_t items, int items_per_pass) {
  constexpr std::int64_t kPasses = 4, kMaxGrid = 4096;
  const std::int64_t items_per_block = kPasses * items_per_pass;
  return unsigned(
      std::clamp<std::int64_t>((items + items_per_block - 1) / items_per_block, 1, kMaxGrid));
}

/// Copies 8 values of 16 bits at once.
template <class T>
__device__ void load_column(const T* from, T (&to)[codec::jpeg::kBlockSide]) {
  const uint4 column = *reinterpret_cast<const uint4*>(from);
  const unsigned words[4] = {column.x, column.y, column.z, column.w};
  for (int i = 0; i < codec::jpeg::kBlockSide; ++i) to[i] = T(words[i / 2] >> (i % 2 * 16));
}

inline __device__ void store_column(const std::int16_t (&column)[codec::jpeg::kBlockSide],
                                    std::int16_t* to) {
  const auto pack = [&](int i) {
    return unsigned(std::uint16_t(column[i])) | unsigned(std::uint16_t(column[i + 1])) << 16;
  };
  *reinterpret_cast<uint4*>(to) = make_uint4(pack(0), pack(2), pack(4), pack(6));
}

/// Copies 8 samples at once.
inline __device__ void load_row(const std::uint8_t* from,
                                std::int32_t (&row)[codec::jpeg::kBlockSide]) {
  const uint2 samples = *reinterpret_cast<const uint2*>(from);
  for (int i = 0; i < 4; ++i) {
    row[i] = std::int32_t(samples.x >> (8 * i) & 0xFF);
    row[i + 4] = std::int32_t(samples.y >> (8 * i) & 0xFF);
  }
}

inline __device__ unsigned pack_samples(const std::int32_t* samples) {
  return unsigned(samples[0]) | unsigned(samples[1]) << 8 | unsigned(samples[2]) << 16 |
         unsigned(samples[3]) << 24;
}

inline __device__ void store_row(const std::int32_t (&row)[codec::jpeg::kBlockSide],
                                 std::uint8_t* to) {
  *reinterpret_cast<uint2*>(to) = make_uint2(pack_samples(row), pack_samples(row + 4));
}

}  // namespace eckart::compute::cuda
