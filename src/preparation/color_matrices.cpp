#include "preparation/color_matrices.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "preparation/gray.hpp"

namespace eckart::preparation {
namespace {

constexpr float kRed = 0.299F, kGreen = 0.587F, kBlue = 0.114F;
constexpr float kCb = 2 * (1 - kBlue), kCr = 2 * (1 - kRed);

/// The factors of the matrices Y, Cb and Cr: the roots of their squared errors in the pixels, see
/// matrices_scale(). As Cb has the largest, no value exceeds the range of the depth.
struct YcbcrScale {
  float y, cb, cr;

  explicit YcbcrScale(const ImageShape& image) {
    const auto square = [](double value) { return value * value; };
    const double scale = matrices_scale(image, ColorMode::ycbcr);
    y = float(scale * std::sqrt(3.0));
    cb = float(scale * kCb * std::sqrt(1 + square(kBlue / kGreen)));
    cr = float(scale * kCr * std::sqrt(1 + square(kRed / kGreen)));
  }
};

/// The type of the matrices of samples of type T.
template <class T>
using MatrixSample = std::conditional_t<std::is_floating_point_v<T>, float, std::uint16_t>;

/// Floats are not rounded or clamped.
template <class T>
T rounded(float value, int peak) {
  if constexpr (std::is_floating_point_v<T>) return value;
  return T(std::clamp(value + 0.5F, 0.0F, float(peak)));
}

template <class T>
Image convert_to_ycbcr(const Image& image) {
  using Sample = MatrixSample<T>;
  Image ycbcr(matrices_shape(image.shape(), ColorMode::ycbcr));
  const YcbcrScale scale(image.shape());
  const int max = peak(Depth::u16);
  const float zero = is_float(image.shape().depth) ? 0 : 0.5F * float(max + 1);
  const T* rgb = image.plane<T>(0).data;
  Sample* to = ycbcr.plane<Sample>(0).data;
  for (std::size_t i = 0; i < image.shape().samples(); i += 3) {
    const float y = kRed * float(rgb[i]) + kGreen * float(rgb[i + 1]) + kBlue * float(rgb[i + 2]);
    to[i] = rounded<Sample>(scale.y * y, max);
    to[i + 1] = rounded<Sample>(scale.cb / kCb * (float(rgb[i + 2]) - y) + zero, max);
    to[i + 2] = rounded<Sample>(scale.cr / kCr * (float(rgb[i]) - y) + zero, max);
  }
  return ycbcr;
}

/// Adds changes of red, green and blue to the samples, pixel after pixel.
template <class T>
class Restoration {
 public:
  explicit Restoration(const Image& image)
      : restored_{.pixels = Image(image.shape())},
        from_(image.plane<T>(0).data),
        to_(restored_.pixels.template plane<T>(0).data),
        peak_(peak(image.shape().depth)) {}

  void add(std::size_t pixel, const std::array<float, 3>& changes) {
    for (std::size_t c = 0; c < 3; ++c) {
      const auto sample = float(from_[3 * pixel + c]);
      const T restored = rounded<T>(sample + changes[c], peak_);
      to_[3 * pixel + c] = restored;
      const float error = float(restored) - sample;
      restored_.squared_error += double(error) * double(error);
      restored_.residual += double(changes[c]) * double(changes[c]);
    }
  }
  RestoredImage take() { return std::move(restored_); }

 private:
  RestoredImage restored_;
  const T* from_;
  T* to_;
  int peak_;
};

template <class T>
RestoredImage restore_luma(const Image& image, const Image& matrices, const Image& approximation) {
  Restoration<T> restoration(image);
  const auto scale = float(matrices_scale(image.shape(), ColorMode::luma));
  using Sample = MatrixSample<T>;
  const Sample *before = matrices.plane<Sample>(0).data,
               *after = approximation.plane<Sample>(0).data;
  for (std::size_t i = 0; i < matrices.shape().samples(); ++i) {
    const float change = (float(after[i]) - float(before[i])) / scale;
    restoration.add(i, {change, change, change});
  }
  return restoration.take();
}

template <class T>
RestoredImage restore_ycbcr(const Image& image, const Image& matrices, const Image& approximation) {
  Restoration<T> restoration(image);
  const YcbcrScale scale(image.shape());
  using Sample = MatrixSample<T>;
  const Sample *before = matrices.plane<Sample>(0).data,
               *after = approximation.plane<Sample>(0).data;
  const auto change = [&](std::size_t i) { return float(after[i]) - float(before[i]); };
  for (std::size_t i = 0; i < matrices.shape().samples(); i += 3) {
    const float y = change(i) / scale.y, cb = kCb / scale.cb * change(i + 1),
                cr = kCr / scale.cr * change(i + 2);
    restoration.add(i / 3, {y + cr, y - (kBlue * cb + kRed * cr) / kGreen, y + cb});
  }
  return restoration.take();
}

}  // namespace

Image color_matrices(const Image& image, ColorMode mode) {
  if (mode == ColorMode::luma) return luma_of(image);
  return with_sample_type(image.shape().depth,
                          [&]<class T>(T*) { return convert_to_ycbcr<T>(image); });
}

RestoredImage restore_colors(const Image& image, const Image& matrices, const Image& approximation,
                             ColorMode mode) {
  return with_sample_type(image.shape().depth, [&]<class T>(T*) {
    return mode == ColorMode::luma ? restore_luma<T>(image, matrices, approximation)
                                   : restore_ycbcr<T>(image, matrices, approximation);
  });
}

}  // namespace eckart::preparation
