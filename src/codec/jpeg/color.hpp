#pragma once

#include <cstdint>

#include "codec/jpeg/layout.hpp"
#include "core/host_device.hpp"

// Upsampling of chroma and conversion to RGB, with the results of libjpeg-turbo with "fancy
// upsampling".
namespace eckart::codec::jpeg {

struct Rgb {
  std::uint8_t r, g, b;
};

/// The sample of a chroma plane at a pixel: interpolated linearly between the centers of samples
/// along each subsampled side, or the nearest sample of a plane of 1 or 2 columns with half of the
/// columns. Beyond an edge, the plane continues with its last sample.
ECKART_HOST_DEVICE inline std::int32_t chroma_at(const std::uint8_t* plane, std::int32_t stride,
                                                 const Layout& layout, std::int32_t row,
                                                 std::int32_t col) {
  const bool half_cols = layout.across == 2, half_rows = layout.down == 2;
  const std::int32_t near_row = divide(row, layout.down), near_col = divide(col, layout.across);
  const std::uint8_t* near = plane + std::int64_t(near_row) * stride;
  if (half_cols && layout.chroma_cols() <= 2) return near[near_col];
  const auto beside = [](std::int32_t position, std::int32_t at, std::int32_t count) {
    const std::int32_t other = at + (position % 2 == 0 ? -1 : 1);
    return other < 0 || other >= count ? at : other;
  };
  const std::uint8_t* far =
      plane + std::int64_t(half_rows ? beside(row, near_row, layout.chroma_rows()) : 0) * stride;
  // With half of the rows, in quarters of samples.
  const auto in_column = [&](std::int32_t at) {
    return half_rows ? 3 * near[at] + far[at] : std::int32_t(near[at]);
  };
  if (!half_cols) return half_rows ? (in_column(near_col) + 1 + row % 2) >> 2 : near[near_col];
  const std::int32_t sum =
      3 * in_column(near_col) + in_column(beside(col, near_col, layout.chroma_cols()));
  return half_rows ? (sum + 8 - col % 2) >> 4 : (sum + 1 + col % 2) >> 2;
}

/// ITU-T T.871, section 7, with constants of 16 bits after the binary point.
ECKART_HOST_DEVICE inline Rgb to_rgb(std::int32_t y, std::int32_t cb, std::int32_t cr) {
  constexpr std::int32_t kHalf = 1 << 15;
  const auto clamp = [](std::int32_t value) {
    return std::uint8_t(value < 0 ? 0 : value > 255 ? 255 : value);
  };
  cb -= 128;
  cr -= 128;
  return {clamp(y + ((91881 * cr + kHalf) >> 16)),
          clamp(y + ((-22554 * cb - 46802 * cr + kHalf) >> 16)),
          clamp(y + ((116130 * cb + kHalf) >> 16))};
}

/// Sets the channels of a pixel: RGB, or gray. `planes` are those of Layout.
ECKART_HOST_DEVICE inline void set_pixel(const std::uint8_t* planes, const Layout& layout,
                                         std::int32_t row, std::int32_t col, std::uint8_t* pixel) {
  const std::int32_t y = planes[std::int64_t(row) * layout.stride(0) + col];
  if (layout.channels == 1) {
    pixel[0] = std::uint8_t(y);
    return;
  }
  const std::int32_t stride = layout.stride(1);
  const Rgb rgb = to_rgb(y, chroma_at(planes + layout.first_sample(1), stride, layout, row, col),
                         chroma_at(planes + layout.first_sample(2), stride, layout, row, col));
  pixel[0] = rgb.r;
  pixel[1] = rgb.g;
  pixel[2] = rgb.b;
}

/// Writes the pixel to its place in an image: interleaved RGB, or gray.
ECKART_HOST_DEVICE inline void write_pixel(const std::uint8_t* planes, const Layout& layout,
                                           std::int32_t row, std::int32_t col,
                                           std::uint8_t* pixels) {
  const std::int64_t at = std::int64_t(row) * layout.cols + col;
  set_pixel(planes, layout, row, col, pixels + layout.channels * at);
}

/// The squared difference of the pixel to that of an image, over all channels.
ECKART_HOST_DEVICE inline std::uint32_t squared_error_of_pixel(const std::uint8_t* planes,
                                                               const Layout& layout,
                                                               std::int32_t row, std::int32_t col,
                                                               const std::uint8_t* pixels) {
  std::uint8_t pixel[3];
  set_pixel(planes, layout, row, col, pixel);
  const std::uint8_t* other = pixels + layout.channels * (std::int64_t(row) * layout.cols + col);
  std::uint32_t sum = 0;
  for (int channel = 0; channel < layout.channels; ++channel) {
    const std::int32_t difference = pixel[channel] - other[channel];
    sum += std::uint32_t(difference * difference);
  }
  return sum;
}

}  // namespace eckart::codec::jpeg
