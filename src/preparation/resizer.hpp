#pragma once

#include <optional>

#include "core/image.hpp"

namespace eckart::preparation {

/// Resizes images on a device. Thread-safe.
class Resizer {
 public:
  virtual ~Resizer() = default;

  /// Returns the image that resize() returns, with identical bytes. Returns nullopt if the caller
  /// should call resize() instead: the device is slower for this image, busy, or unusable. Throws
  /// std::bad_alloc only.
  virtual std::optional<Image> try_resize(const Image& image, int rows, int cols) = 0;
};

}  // namespace eckart::preparation
