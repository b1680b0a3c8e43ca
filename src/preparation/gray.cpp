#include "preparation/gray.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace eckart::preparation {
namespace {

template <class T>
void convert(const Image& image, Image& gray) {
  const T* rgb = image.plane<T>(0).data;
  T* to = gray.plane<T>(0).data;
  constexpr std::uint32_t kRed = 19595, kGreen = 38470, kBlue = 7471, kHalf = 0x8000;
  for (std::size_t i = 0; i < gray.shape().samples(); ++i)
    to[i] = T((rgb[3 * i] * kRed + rgb[3 * i + 1] * kGreen + rgb[3 * i + 2] * kBlue + kHalf) >> 16);
}

}  // namespace

Image gray_of(const Image& rgb) {
  ImageShape shape = rgb.shape();
  shape.channels = 1;
  Image gray(shape);
  const auto convert_depth =
      shape.depth == Depth::u8 ? convert<std::uint8_t> : convert<std::uint16_t>;
  convert_depth(rgb, gray);
  return gray;
}

Image to_gray(Image image) {
  return image.shape().channels == 1 ? std::move(image) : gray_of(image);
}

}  // namespace eckart::preparation
