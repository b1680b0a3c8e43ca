#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "core/matrix_view.hpp"

namespace eckart {

/// Bits per sample. The value is the number of bytes.
enum class Depth : std::uint8_t { u8 = 1, u16 = 2 };

/// The largest value of a sample: 255 or 65535.
constexpr int peak(Depth depth) { return depth == Depth::u8 ? 255 : 65535; }

/// Size and sample type of an image. `channels` is 1 (gray) or 3 (RGB, in this order).
struct ImageShape {
  int rows = 0;
  int cols = 0;
  int channels = 0;
  Depth depth = Depth::u8;

  std::size_t samples() const {
    return std::size_t(rows) * std::size_t(cols) * std::size_t(channels);
  }
  std::size_t bytes() const { return samples() * std::size_t(depth); }
  friend bool operator==(const ImageShape&, const ImageShape&) = default;
};

/// Owns the pixels of one image: row-major, channels interleaved, rows without padding.
/// A new image's pixels are uninitialized.
class Image {
 public:
  Image() = default;
  explicit Image(ImageShape shape)
      : shape_(shape), data_(std::make_unique_for_overwrite<std::byte[]>(shape.bytes())) {}

  const ImageShape& shape() const { return shape_; }
  std::size_t bytes() const { return shape_.bytes(); }
  bool empty() const { return !data_; }
  /// Moves the pixels to an image of another shape with the same number of bytes.
  Image reshaped(const ImageShape& shape) && {
    shape_ = shape;
    return std::move(*this);
  }
  std::byte* data() { return data_.get(); }
  const std::byte* data() const { return data_.get(); }

  /// Channel `c` as a rows x cols matrix of samples. T must match the depth: std::uint8_t or
  /// std::uint16_t.
  template <class T>
  MatrixView<T> plane(int c) {
    return {reinterpret_cast<T*>(data_.get()) + c, shape_.rows, shape_.cols,
            std::ptrdiff_t(shape_.cols) * shape_.channels, shape_.channels};
  }
  template <class T>
  MatrixView<const T> plane(int c) const {
    return const_cast<Image*>(this)->plane<T>(c).as_const();
  }

 private:
  ImageShape shape_;
  std::unique_ptr<std::byte[]> data_;
};

}  // namespace eckart
