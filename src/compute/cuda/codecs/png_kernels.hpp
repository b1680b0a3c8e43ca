#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "codec/png/checksums.hpp"
#include "compute/cuda/layout/png_batch.hpp"

namespace eckart::compute::cuda {

/// What compress_png_pieces() makes of a piece.
struct PngBlock {
  std::uint32_t bytes;      ///< of the deflate block
  std::uint32_t remainder;  ///< of the CRC of type, zlib header and block
  codec::png::AdlerSums adler;
};

/// Where the chunk of a piece is put.
struct PngChunk {
  std::int64_t offset;  ///< in the chunks of all images; negative: there is no room
  std::uint32_t adler, crc;
};

/// The IDAT chunks of an image. `bytes` is 0 if there was no room for them.
struct PngChunks {
  std::int64_t offset;
  std::uint32_t bytes;
};

/// Filters and compresses pieces, with the bytes of codec::png::append_idat_chunks(). `pixels`: see
/// PngImage. `filtered` and `blocks` are scratch memory of the sizes of PngBatch. All pointers are
/// device pointers. Asynchronous. Throws as check_launch() does.
void compress_png_pieces(const std::byte* pixels, const PngImage* images, const PngPiece* pieces,
                         int count, std::uint8_t* filtered, std::uint8_t* blocks, PngBlock* out,
                         cudaStream_t stream);

/// Chooses where the chunks of each piece and image are put, image after image, in `capacity` bytes
/// of memory. Each image begins aligned to 16 bytes.
void place_png_chunks(const PngImage* images, int count, const PngPiece* pieces,
                      const PngBlock* blocks, std::int64_t capacity, PngChunk* chunks,
                      PngChunks* out, cudaStream_t stream);

/// Writes the chunks. `out` may be pinned memory of the host.
void write_png_chunks(const PngPiece* pieces, int count, const std::uint8_t* block_bytes,
                      const PngBlock* blocks, const PngChunk* chunks, std::uint8_t* out,
                      cudaStream_t stream);

}  // namespace eckart::compute::cuda
