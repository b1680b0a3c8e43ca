#pragma once

#include <cstdint>

#include "codec/jpeg/layout.hpp"
#include "core/host_device.hpp"

// Conversion of RGB to YCbCr and downsampling of chroma, with the results of libjpeg.
namespace eckart::codec::jpeg {

/// ITU-T T.871, section 7, with constants of 16 bits after the binary point. Weights of R, G and B,
/// and an offset.
struct ChannelWeights {
  std::int32_t r, g, b, offset;

  ECKART_HOST_DEVICE std::int32_t of(const std::uint8_t* rgb) const {
    return (r * rgb[0] + g * rgb[1] + b * rgb[2] + offset) >> 16;
  }
};

ECKART_HOST_DEVICE inline ChannelWeights channel_weights(int channel) {
  constexpr std::int32_t kHalf = 1 << 15;
  constexpr std::int32_t kChroma = (128 << 16) + kHalf - 1;  // halves down
  if (channel == 0) return {19595, 38470, 7471, kHalf};
  if (channel == 1) return {-11059, -21709, 32768, kChroma};
  return {32768, -27439, -5329, kChroma};
}

/// The sample of a plane of Layout, at a row and column of this plane, of an image: interleaved
/// RGB, or gray. Samples beyond an edge are those that libjpeg puts there: a row of pixels
/// continues with its last pixel, and a plane with its last row. A sample of chroma is the mean of
/// its pixels. Halves are rounded up in every other column, and down otherwise.
ECKART_HOST_DEVICE inline std::uint8_t sample_at(const std::uint8_t* pixels, const Layout& layout,
                                                 int channel, std::int32_t row, std::int32_t col) {
  const auto nearer = [](std::int32_t a, std::int32_t b) { return a < b ? a : b; };
  const std::int32_t last_row = layout.rows - 1, last_col = layout.cols - 1;
  if (channel == 0) {
    const std::int64_t at =
        std::int64_t(nearer(row, last_row)) * layout.cols + nearer(col, last_col);
    if (layout.channels == 1) return pixels[at];
    return std::uint8_t(channel_weights(0).of(pixels + 3 * at));
  }
  const ChannelWeights weights = channel_weights(channel);
  const std::int32_t first_row = nearer(row, layout.chroma_rows() - 1) * layout.down;
  std::int32_t sum = 0;
  for (int i = 0; i < layout.down; ++i) {
    const std::uint8_t* line =
        pixels + 3 * std::int64_t(nearer(first_row + i, last_row)) * layout.cols;
    for (int j = 0; j < layout.across; ++j)
      sum += weights.of(line + 3 * std::int64_t(nearer(col * layout.across + j, last_col)));
  }
  if (layout.across == 1) return std::uint8_t(divide(sum + layout.down - 1, layout.down));
  const std::int32_t odd = col % 2;
  return std::uint8_t(layout.down == 1 ? (sum + odd) >> 1 : (sum + 1 + odd) >> 2);
}

}  // namespace eckart::codec::jpeg
