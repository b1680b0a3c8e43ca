#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "core/matrix_view.hpp"

namespace eckart {

/// The type of samples: unsigned integers, or float32 (finite). The value is the number of bytes.
enum class Depth : std::uint8_t { u8 = 1, u16 = 2, f32 = 4 };

constexpr bool is_float(Depth depth) { return depth == Depth::f32; }

/// The largest value of an integer sample: 255 or 65535. Float samples have no largest value: 1
/// stands for opaque alpha, white, and the largest sample after normalization.
constexpr int peak(Depth depth) {
  if (is_float(depth)) return 1;
  return depth == Depth::u8 ? 255 : 65535;
}

/// For messages: "16-bit".
constexpr const char* sample_name(Depth depth) {
  if (is_float(depth)) return "32-bit float";
  return depth == Depth::u8 ? "8-bit" : "16-bit";
}

/// Calls the function with a null pointer to the sample type of the depth.
template <class Function>
auto with_sample_type(Depth depth, Function&& function) {
  if (depth == Depth::u8) return function(static_cast<std::uint8_t*>(nullptr));
  if (depth == Depth::u16) return function(static_cast<std::uint16_t*>(nullptr));
  return function(static_cast<float*>(nullptr));
}

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

  /// Takes over pixels. `data`: shape.bytes() or more bytes.
  Image(ImageShape shape, std::unique_ptr<std::byte[]> data)
      : shape_(shape), data_(std::move(data)) {}

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

  /// Channel `c` as a rows x cols matrix of samples. T must match the depth: std::uint8_t,
  /// std::uint16_t or float.
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
