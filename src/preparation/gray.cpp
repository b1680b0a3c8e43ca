#include "preparation/gray.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/color_mode.hpp"

namespace eckart::preparation {
namespace {

/// The results have `kFractionBits` binary digits after the point.
template <class T, class Gray, int kFractionBits>
void convert(const Image& image, Image& gray) {
  constexpr int kDropped = 16 - kFractionBits;
  constexpr std::uint32_t kRed = 19595, kGreen = 38470, kBlue = 7471, kHalf = 1U << (kDropped - 1);
  const T* rgb = image.plane<T>(0).data;
  Gray* to = gray.plane<Gray>(0).data;
  for (std::size_t i = 0; i < gray.shape().samples(); ++i)
    to[i] = Gray((rgb[3 * i] * kRed + rgb[3 * i + 1] * kGreen + rgb[3 * i + 2] * kBlue + kHalf) >>
                 kDropped);
}

void convert_floats(const Image& image, Image& gray) {
  const float* rgb = image.plane<float>(0).data;
  float* to = gray.plane<float>(0).data;
  constexpr double kRed = 0.299, kGreen = 0.587, kBlue = 0.114;
  for (std::size_t i = 0; i < gray.shape().samples(); ++i)
    to[i] = float(rgb[3 * i] * kRed + rgb[3 * i + 1] * kGreen + rgb[3 * i + 2] * kBlue);
}

}  // namespace

Image gray_of(const Image& rgb) {
  ImageShape shape = rgb.shape();
  shape.channels = 1;
  Image gray(shape);
  const auto convert_depth = is_float(shape.depth)      ? convert_floats
                             : shape.depth == Depth::u8 ? convert<std::uint8_t, std::uint8_t, 0>
                                                        : convert<std::uint16_t, std::uint16_t, 0>;
  convert_depth(rgb, gray);
  return gray;
}

Image luma_of(const Image& rgb) {
  if (rgb.shape().depth != Depth::u8) return gray_of(rgb);
  Image luma(matrices_shape(rgb.shape(), ColorMode::luma));
  convert<std::uint8_t, std::uint16_t, 8>(rgb, luma);
  return luma;
}

Image to_gray(Image image) {
  return image.shape().channels == 1 ? std::move(image) : gray_of(image);
}

}  // namespace eckart::preparation
