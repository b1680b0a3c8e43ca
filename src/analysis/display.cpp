#include "analysis/display.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include "analysis/samples.hpp"

namespace eckart::analysis {
namespace {

constexpr double kWhite = peak(Depth::u8), kGray = 128;

/// Returns an image of 8 bits of the values `value(i)` of all samples.
template <class Value>
Image image_of(const ImageShape& shape, const Value& value) {
  Image result({shape.rows, shape.cols, shape.channels, Depth::u8});
  auto* to = reinterpret_cast<std::uint8_t*>(result.data());
  for (std::size_t i = 0; i < shape.samples(); ++i)
    to[i] = std::uint8_t(std::lround(std::clamp(value(i), 0.0, kWhite)));
  return result;
}

/// Calls `use` with the samples of images of the same depth.
template <class Use>
auto with_samples(const Image& a, const Image& b, const Use& use) {
  return with_sample_type(a.shape().depth, [&]<class Sample>(Sample*) {
    return use(samples<Sample>(a), samples<Sample>(b));
  });
}

}  // namespace

DisplayRange display_range(const Image& image) {
  if (image.shape().depth == Depth::u8) return {};
  return with_samples(image, image, [](auto values, auto) {
    const auto [min, max] = std::ranges::minmax(values);
    return DisplayRange{double(min), max > min ? double(max) : min + 1.0};
  });
}

Image display_image(const Image& image, const DisplayRange& range) {
  const double scale = kWhite / (range.white - range.black);
  return with_samples(image, image, [&](auto values, auto) {
    return image_of(image.shape(),
                    [&](std::size_t i) { return scale * (values[i] - range.black); });
  });
}

int display_residual_gain(const Image& a, const Image& b, const DisplayRange& range) {
  constexpr int kMaxGain = 64;
  constexpr std::size_t kExceedingShare = 200;
  const double scale = kWhite / (range.white - range.black);
  int gain = kMaxGain;
  with_samples(a, b, [&](auto from, auto to) {
    const auto exceeds = [&](std::size_t i) {
      return std::abs(scale * (double(to[i]) - double(from[i]))) * gain > kGray;
    };
    for (; gain > 1; gain /= 2) {
      std::size_t exceeding = 0;
      for (std::size_t i = 0; i < from.size(); ++i) exceeding += exceeds(i);
      if (exceeding * kExceedingShare <= from.size()) return;
    }
  });
  return gain;
}

Image display_residual(const Image& a, const Image& b, const DisplayRange& range, int gain) {
  const double scale = gain * kWhite / (range.white - range.black);
  return with_samples(a, b, [&](auto from, auto to) {
    return image_of(a.shape(), [&](std::size_t i) {
      return kGray + scale * (double(from[i]) - double(to[i]));
    });
  });
}

}  // namespace eckart::analysis
