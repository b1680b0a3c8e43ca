#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "codec/png/deflate_block.hpp"
#include "core/image.hpp"

namespace eckart::compute::cuda {

inline constexpr std::size_t kPngAlignment = 16;  ///< of blocks and of the chunks of an image

/// An image to encode, with its samples in device memory as an Image has them.
struct PngImage {
  std::int64_t pixels;  ///< offset of the samples in bytes
  std::int64_t row_bytes;
  int pixel_bytes;  ///< distance of a sample from its left neighbor
  int sample_bytes;
  int first_piece, pieces;  ///< in the list of all pieces

  /// The bytes of a row with its filter byte.
  ECKART_HOST_DEVICE std::int64_t filtered_row_bytes() const { return 1 + row_bytes; }
};

/// The part of an image that becomes one IDAT chunk.
struct PngPiece {
  std::int64_t begin;     ///< in the filtered rows of its image
  std::int64_t filtered;  ///< offset of its filtered bytes in the scratch memory
  std::int64_t block;     ///< offset of its deflate block in the scratch memory; aligned
  std::uint32_t size;     ///< of its filtered bytes, at most codec::png::kBlockBytes
  int image;
  bool is_first, is_last;
};

/// The layout of the images of a batch and of the scratch memory for them.
class PngBatch {
 public:
  /// The largest image: its pieces are put together by one thread.
  static constexpr int kMaxPieces = 512;

  static bool can_encode(const ImageShape& shape);

  void clear() { *this = {}; }
  /// Adds an image whose samples begin at `pixels`. Requires can_encode().
  void add(const ImageShape& shape, std::int64_t pixels);

  std::span<const PngImage> images() const { return images_; }
  std::span<const PngPiece> pieces() const { return pieces_; }
  /// Bytes of scratch memory.
  std::size_t filtered_bytes() const { return filtered_bytes_; }
  std::size_t block_bytes() const { return block_bytes_; }

 private:
  std::vector<PngImage> images_;
  std::vector<PngPiece> pieces_;
  std::size_t filtered_bytes_ = 0, block_bytes_ = 0;
};

}  // namespace eckart::compute::cuda
