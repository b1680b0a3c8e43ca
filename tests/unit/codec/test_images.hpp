#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "core/image.hpp"

namespace eckart::test {

using Bytes = std::vector<std::byte>;

inline int sample(const Image& image, int row, int col, int channel) {
  return image.shape().depth == Depth::u8 ? image.plane<std::uint8_t>(channel)(row, col)
                                          : image.plane<std::uint16_t>(channel)(row, col);
}

inline void set_sample(Image& image, int row, int col, int channel, int value) {
  if (image.shape().depth == Depth::u8) {
    image.plane<std::uint8_t>(channel)(row, col) = std::uint8_t(value);
  } else {
    image.plane<std::uint16_t>(channel)(row, col) = std::uint16_t(value);
  }
}

/// Returns all samples of an image of floats, in the order of memory.
inline std::vector<float> float_samples(const Image& image) {
  const auto* begin = reinterpret_cast<const float*>(image.data());
  return {begin, begin + image.shape().samples()};
}

/// Returns all samples of an image of integers, in the order of memory.
inline std::vector<int> samples(const Image& image) {
  std::vector<int> list;
  for (int row = 0; row < image.shape().rows; ++row) {
    for (int col = 0; col < image.shape().cols; ++col) {
      for (int c = 0; c < image.shape().channels; ++c) list.push_back(sample(image, row, col, c));
    }
  }
  return list;
}

inline Bytes to_bytes(std::string_view text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

/// Every sample another one than its neighbors; uses all bits. Floats are between -1 and 1.
inline Image noise_image(const ImageShape& shape) {
  Image image(shape);
  std::uint32_t state = 1;
  const std::size_t count = is_float(shape.depth) ? shape.samples() : shape.bytes();
  for (std::size_t i = 0; i < count; ++i) {
    state = state * 1664525 + 1013904223;
    if (is_float(shape.depth)) {
      reinterpret_cast<float*>(image.data())[i] = float(std::int32_t(state)) * 0x1p-31F;
    } else {
      image.data()[i] = std::byte(state >> 24);
    }
  }
  return image;
}

/// Every sample 0.
inline Image black_image(const ImageShape& shape) {
  Image image(shape);
  std::memset(image.data(), 0, image.bytes());
  return image;
}

/// Falls off to the right and to the bottom; red, green and blue differ.
inline Image gradient_image(const ImageShape& shape) {
  Image image(shape);
  for (int row = 0; row < shape.rows; ++row) {
    for (int col = 0; col < shape.cols; ++col) {
      for (int c = 0; c < shape.channels; ++c) {
        const double fall = (1 - 0.5 * row / shape.rows) * (1 - 0.4 * col / shape.cols);
        set_sample(image, row, col, c, int(peak(shape.depth) * fall / (1 + c)));
      }
    }
  }
  return image;
}

inline bool same(const Image& a, const Image& b) {
  return a.shape() == b.shape() && std::memcmp(a.data(), b.data(), a.bytes()) == 0;
}

inline int largest_difference(const Image& a, const Image& b) {
  int largest = 0;
  for (int row = 0; row < a.shape().rows; ++row) {
    for (int col = 0; col < a.shape().cols; ++col) {
      for (int c = 0; c < a.shape().channels; ++c) {
        largest = std::max(largest, std::abs(sample(a, row, col, c) - sample(b, row, col, c)));
      }
    }
  }
  return largest;
}

}  // namespace eckart::test
