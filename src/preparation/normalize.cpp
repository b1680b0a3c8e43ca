#include "preparation/normalize.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace eckart::preparation {
namespace {

template <class T>
void stretch(Image& image) {
  const std::span<T> samples(image.plane<T>(0).data, image.shape().samples());
  const auto [low, high] = std::ranges::minmax(samples);
  const int range = high - low, top = peak(image.shape().depth);
  std::vector<T> levels(std::size_t(range) + 1);
  // The product is exact, so that the rounded quotient is a half only if the exact one is.
  for (int i = 0; i <= range; ++i)
    levels[std::size_t(i)] = T(std::floor(double(i) * top / std::max(range, 1) + 0.5));
  for (T& sample : samples) sample = levels[std::size_t(sample - low)];
}

void stretch_floats(Image& image) {
  const std::span<float> samples(image.plane<float>(0).data, image.shape().samples());
  const auto [low, high] = std::ranges::minmax(samples);
  const double offset = low, range = double(high) - low;
  for (float& sample : samples) sample = range > 0 ? float((sample - offset) / range) : 0;
}

}  // namespace

void normalize_minmax(Image& image) {
  if (is_float(image.shape().depth)) {
    stretch_floats(image);
  } else if (image.shape().depth == Depth::u8) {
    stretch<std::uint8_t>(image);
  } else {
    stretch<std::uint16_t>(image);
  }
}

}  // namespace eckart::preparation
