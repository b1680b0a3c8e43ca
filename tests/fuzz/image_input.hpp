#pragma once

#include <cstdint>
#include <cstring>
#include <span>

#include "core/image.hpp"

namespace eckart::fuzz {

/// What is left of an input that describes an image: bytes for its shape, then its samples.
class ImageInput {
 public:
  ImageInput(const std::uint8_t* data, std::size_t size) : rest_(data, size) {}

  std::uint8_t next() {
    if (rest_.empty()) return 0;
    const std::uint8_t first = rest_.front();
    rest_ = rest_.subspan(1);
    return first;
  }
  /// Its samples are the rest, repeated.
  Image image(const ImageShape& shape) const {
    Image image(shape);
    if (rest_.empty()) {
      std::memset(image.data(), 0, image.bytes());
      return image;
    }
    for (std::size_t i = 0; i < image.bytes(); ++i)
      image.data()[i] = std::byte(rest_[i % rest_.size()]);
    return image;
  }

 private:
  std::span<const std::uint8_t> rest_;
};

}  // namespace eckart::fuzz
