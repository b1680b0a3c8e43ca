#pragma once

#include <cstdint>

#include "core/host_device.hpp"

namespace eckart::codec::jpeg {

inline constexpr int kBlockSide = 8;
inline constexpr int kBlockSize = kBlockSide * kBlockSide;  ///< samples, or coefficients

/// The largest number of blocks of an image, so that indices of samples fit 32 bits.
inline constexpr std::int64_t kMaxBlocks = std::int64_t(1) << 24;

/// The place of a block in the planes of samples.
struct BlockPlace {
  std::int32_t channel;
  std::int32_t first_sample;
  std::int32_t stride;  ///< samples from row to row
};

/// The place of a sample in its plane.
struct SamplePlace {
  std::int32_t channel, row, col;
};

/// value / factor for a factor of 1 or 2, which costs a GPU less than other divisions.
ECKART_HOST_DEVICE inline std::int32_t divide(std::int32_t value, std::int32_t factor) {
  return factor == 2 ? value / 2 : value;
}

/// Sizes and positions of the data of one image. Coefficients are stored block after block in the
/// order of the scan: MCU after MCU, the blocks of luma in an MCU first. Samples are stored as a
/// plane per channel, of whole MCUs.
struct Layout {
  std::int32_t rows = 0, cols = 0;
  std::int32_t channels = 1;          ///< 1: gray, 3: YCbCr
  std::int32_t across = 1, down = 1;  ///< luma samples for each chroma sample: 1 or 2

  ECKART_HOST_DEVICE std::int32_t mcus_across() const {
    return divide((cols + kBlockSide * across - 1) / kBlockSide, across);
  }
  ECKART_HOST_DEVICE std::int32_t mcus_down() const {
    return divide((rows + kBlockSide * down - 1) / kBlockSide, down);
  }
  ECKART_HOST_DEVICE std::int32_t luma_blocks_per_mcu() const { return across * down; }
  ECKART_HOST_DEVICE std::int32_t blocks_per_mcu() const { return across * down + channels - 1; }
  ECKART_HOST_DEVICE std::int64_t blocks() const {
    return std::int64_t(mcus_across()) * mcus_down() * blocks_per_mcu();
  }
  /// Of the samples in all planes, and of the coefficients.
  ECKART_HOST_DEVICE std::int64_t samples() const { return blocks() * kBlockSize; }

  /// The width and height of a chroma plane, without what fills its last MCUs.
  ECKART_HOST_DEVICE std::int32_t chroma_cols() const { return divide(cols + across - 1, across); }
  ECKART_HOST_DEVICE std::int32_t chroma_rows() const { return divide(rows + down - 1, down); }

  ECKART_HOST_DEVICE std::int32_t stride(int channel) const {
    return mcus_across() * kBlockSide * (channel == 0 ? across : 1);
  }
  ECKART_HOST_DEVICE std::int32_t first_sample(int channel) const {
    const std::int32_t plane = mcus_across() * mcus_down() * kBlockSize;
    return channel == 0 ? 0 : plane * (luma_blocks_per_mcu() + channel - 1);
  }
  /// `block` counts in the order of the scan.
  ECKART_HOST_DEVICE BlockPlace place(std::int32_t block) const {
    const std::int32_t mcu = block / blocks_per_mcu(), in_mcu = block % blocks_per_mcu();
    std::int32_t row = mcu / mcus_across(), col = mcu % mcus_across(), channel = 0;
    if (in_mcu < luma_blocks_per_mcu()) {
      const std::int32_t in_mcu_row = divide(in_mcu, across);
      row = row * down + in_mcu_row;
      col = col * across + in_mcu - in_mcu_row * across;
    } else {
      channel = in_mcu - luma_blocks_per_mcu() + 1;
    }
    return {channel, first_sample(channel) + (row * stride(channel) + col) * kBlockSide,
            stride(channel)};
  }
  /// `sample` counts through all planes.
  ECKART_HOST_DEVICE SamplePlace sample_place(std::int32_t sample) const {
    std::int32_t channel = 0;
    while (channel + 1 < channels && sample >= first_sample(channel + 1)) ++channel;
    const std::int32_t in_plane = sample - first_sample(channel);
    return {channel, in_plane / stride(channel), in_plane % stride(channel)};
  }

  // For encoders. MCUs at the right and lower edge may have blocks of luma without a pixel.
  ECKART_HOST_DEVICE bool has_pixels(std::int32_t block) const {
    const std::int32_t mcu = block / blocks_per_mcu(), in_mcu = block % blocks_per_mcu();
    if (in_mcu >= luma_blocks_per_mcu()) return true;
    const std::int32_t in_mcu_row = divide(in_mcu, across);
    const std::int32_t row = mcu / mcus_across() * down + in_mcu_row;
    const std::int32_t col = mcu % mcus_across() * across + in_mcu - in_mcu_row * across;
    return row * kBlockSide < rows && col * kBlockSide < cols;
  }
  /// The block whose first coefficient libjpeg writes for this one: itself, or the last with pixels
  /// before it.
  ECKART_HOST_DEVICE std::int32_t dc_source(std::int32_t block) const {
    while (!has_pixels(block)) --block;  // the first of an MCU has pixels
    return block;
  }
  /// The block of the same channel before this one in the scan; negative: there is none.
  ECKART_HOST_DEVICE std::int32_t block_before(std::int32_t block) const {
    const std::int32_t in_mcu = block % blocks_per_mcu();
    if (in_mcu >= luma_blocks_per_mcu()) return block - blocks_per_mcu();
    return in_mcu > 0 ? block - 1 : block - channels;
  }
};

}  // namespace eckart::codec::jpeg
