#pragma once

#include <algorithm>
#include <utility>

#include "core/image.hpp"
#include "tests/unit/analysis/reference_values.hpp"

namespace eckart::test {

/// Calls `value(row, col, channel)` for each sample of a new image.
template <class Value>
Image make_image(const ImageShape& shape, Value&& value) {
  Image image(shape);
  for (int r = 0; r < shape.rows; ++r) {
    for (int c = 0; c < shape.cols; ++c) {
      for (int channel = 0; channel < shape.channels; ++channel) {
        with_sample_type(shape.depth, [&]<class T>(T*) {
          image.plane<T>(channel)(r, c) = T(value(r, c, channel));
        });
      }
    }
  }
  return image;
}

/// The same images as images() in make_reference_values.py.
inline std::pair<Image, Image> reference_images(const ReferenceValues& values) {
  const auto first = [&](int r, int c, int channel) {
    return (r * r * 3 + c * 5 * (values.max_value / 255) + channel * 40 + r * c) %
           (values.max_value + 1);
  };
  const auto second = [&](int r, int c, int channel) {
    const int noise =
        (r * r * 17 + c * c * 29 + r * c * 13 + channel * 7) % (2 * values.amplitude + 1) -
        values.amplitude;
    return std::clamp(first(r, c, channel) + noise, 0, values.max_value);
  };
  const ImageShape shape{values.rows, values.cols, values.channels,
                         values.bits == 8 ? Depth::u8 : Depth::u16};
  return {make_image(shape, first), make_image(shape, second)};
}

}  // namespace eckart::test
