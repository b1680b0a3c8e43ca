#include "codec/alpha.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/error.hpp"

namespace eckart::codec {
namespace {

/// Opaque alpha, and white.
template <class T>
constexpr T kOpaque = std::is_floating_point_v<T> ? T(1) : std::numeric_limits<T>::max();

template <class T>
std::span<T> samples_of(Image& image) {
  return {reinterpret_cast<T*>(image.data()), image.shape().samples()};
}
template <class T>
std::span<const T> samples_of(const Image& image) {
  return {reinterpret_cast<const T*>(image.data()), image.shape().samples()};
}

template <class T>
bool is_opaque(const Image& alpha) {
  return std::ranges::all_of(samples_of<T>(alpha), [](T value) { return value == kOpaque<T>; });
}

template <class T>
T compose_on_white(T sample, T opacity) {
  if constexpr (std::is_floating_point_v<T>) {
    return T(double(sample) * opacity + (1 - double(opacity)));
  } else {
    constexpr std::uint64_t kWhite = kOpaque<T>;
    return T((sample * std::uint64_t(opacity) + kWhite * (kWhite - opacity) + kWhite / 2) / kWhite);
  }
}

template <class T>
void compose_on_white(Image& pixels, const Image& alpha) {
  const auto channels = std::size_t(pixels.shape().channels);
  T* sample = samples_of<T>(pixels).data();
  for (const T opacity : samples_of<T>(alpha)) {
    for (std::size_t c = 0; c < channels; ++c, ++sample)
      *sample = compose_on_white(*sample, opacity);
  }
}

}  // namespace

ImageShape alpha_shape(const ImageShape& pixels) {
  return {pixels.rows, pixels.cols, 1, pixels.depth};
}

Picture split_alpha(std::span<const std::byte> samples, const ImageShape& shape) {
  Picture picture{Image(shape), Image(alpha_shape(shape)), {}};
  with_sample_type(shape.depth, [&]<class T>(T*) {
    const T* from = reinterpret_cast<const T*>(samples.data());
    T* to = samples_of<T>(picture.pixels).data();
    for (T& alpha : samples_of<T>(picture.alpha)) {
      to = std::copy_n(from, shape.channels, to);
      from += shape.channels;
      alpha = *from++;
    }
  });
  return picture;
}

Image alpha_of_color(const Image& pixels, std::span<const std::uint16_t> color) {
  Image alpha(alpha_shape(pixels.shape()));
  with_sample_type(pixels.shape().depth, [&]<class T>(T*) {
    const T* sample = samples_of<T>(pixels).data();
    for (T& value : samples_of<T>(alpha)) {
      value = std::equal(color.begin(), color.end(), sample) ? T(0) : kOpaque<T>;
      sample += color.size();
    }
  });
  return alpha;
}

std::vector<std::byte> interleave_alpha(const PictureView& picture) {
  const Image& pixels = picture.pixels;
  std::vector<std::byte> samples(pixels.bytes() + picture.alpha->bytes());
  with_sample_type(pixels.shape().depth, [&]<class T>(T*) {
    T* to = reinterpret_cast<T*>(samples.data());
    const T* from = samples_of<T>(pixels).data();
    for (const T alpha : samples_of<T>(*picture.alpha)) {
      to = std::copy_n(from, pixels.shape().channels, to);
      from += pixels.shape().channels;
      *to++ = alpha;
    }
  });
  return samples;
}

void apply_alpha_policy(Picture& picture, AlphaPolicy policy) {
  if (picture.alpha.empty()) return;
  const bool opaque = with_sample_type(picture.alpha.shape().depth,
                                       [&]<class T>(T*) { return is_opaque<T>(picture.alpha); });
  if (!opaque && policy == AlphaPolicy::keep) return;
  if (!opaque && policy == AlphaPolicy::fail)
    throw ItemError(FailureReason::unsupported,
                    "has transparent pixels; use input.alpha=keep or input.alpha=white");
  if (!opaque)
    with_sample_type(picture.alpha.shape().depth,
                     [&]<class T>(T*) { compose_on_white<T>(picture.pixels, picture.alpha); });
  picture.alpha = {};
}

}  // namespace eckart::codec
