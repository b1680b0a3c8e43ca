#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "codec/jpeg/layout.hpp"
#include "core/host_device.hpp"

namespace eckart::compute::cuda {

/// Words of 32 bits for the data of a block. An image whose blocks have more on average is not
/// encoded: noise in the best quality has 25.
inline constexpr int kJpegBlockWords = 32;
/// The words of this many blocks are a piece, in which zeros are stuffed at a time.
inline constexpr int kJpegPieceBlocks = 32;
inline constexpr int kJpegPieceBytes = kJpegPieceBlocks * kJpegBlockWords * 4;

/// An image to encode as JPEG, with its samples in device memory as an Image has them.
struct JpegOutput {
  codec::jpeg::Layout layout;
  std::int64_t pixels;       ///< offset of the samples in bytes
  std::int64_t original;     ///< offset of the image that it is compared with, in bytes
  std::int64_t first_block;  ///< in the list of all blocks
  std::int64_t first_piece;  ///< in the list of all pieces
  int blocks;

  /// Of the data. Each image has whole pieces.
  ECKART_HOST_DEVICE std::int64_t first_word() const { return first_piece * (kJpegPieceBytes / 4); }
  ECKART_HOST_DEVICE int max_pieces() const {
    return (blocks + kJpegPieceBlocks - 1) / kJpegPieceBlocks;
  }
  /// The bits that there is room for.
  ECKART_HOST_DEVICE std::uint32_t max_bits() const {
    return std::uint32_t(blocks) * kJpegBlockWords * 32;
  }
};

/// The layout of the images of a batch.
class JpegOutputBatch {
 public:
  /// The largest image: a block of threads adds up the bits of its blocks.
  static constexpr std::int64_t kMaxEncodedBlocks = 1048576;
  static bool can_encode(const codec::jpeg::Layout& layout) {
    return layout.blocks() <= kMaxEncodedBlocks;
  }

  void clear() { *this = {}; }
  /// Adds an image. Requires can_encode().
  void add(const codec::jpeg::Layout& layout, std::int64_t pixels, std::int64_t original);

  std::span<const JpegOutput> images() const { return images_; }
  // Of all images.
  std::int64_t blocks() const { return blocks_; }
  std::int64_t pieces() const { return pieces_; }
  // Of the largest image.
  int max_blocks() const { return max_blocks_; }
  int max_pixels() const { return max_pixels_; }
  int max_pieces() const { return max_pieces_; }

 private:
  std::vector<JpegOutput> images_;
  std::int64_t blocks_ = 0, pieces_ = 0;
  int max_blocks_ = 0, max_pixels_ = 0, max_pieces_ = 0;
};

}  // namespace eckart::compute::cuda
