#include "preparation/premultiplied_alpha.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace eckart::preparation {
namespace {

/// Calls visit(sample, alpha) for each sample of the pixels.
template <class T, class Visit>
void for_each_sample(Image& pixels, const Image& alpha, const Visit& visit) {
  const auto channels = std::size_t(pixels.shape().channels);
  T* sample = pixels.plane<T>(0).data;
  const T* of_pixel = alpha.plane<T>(0).data;
  for (std::size_t i = 0; i < alpha.shape().samples(); ++i) {
    for (std::size_t c = 0; c < channels; ++c) visit(*sample++, of_pixel[i]);
  }
}

template <class T>
void multiply(Image& pixels, const Image& alpha) {
  for_each_sample<T>(pixels, alpha, [](T& sample, T alpha_sample) {
    if constexpr (std::is_floating_point_v<T>) {
      sample *= alpha_sample;
    } else {
      constexpr std::uint64_t kPeak = T(-1);
      sample = T((std::uint64_t(sample) * alpha_sample + kPeak / 2) / kPeak);
    }
  });
}

template <class T>
void divide(Image& pixels, const Image& alpha) {
  for_each_sample<T>(pixels, alpha, [](T& sample, T alpha_sample) {
    if (alpha_sample == 0) return;
    if constexpr (std::is_floating_point_v<T>) {
      sample /= alpha_sample;
    } else {
      constexpr std::uint64_t kPeak = T(-1);
      sample = T(std::min(kPeak * sample / alpha_sample, kPeak));
    }
  });
}

}  // namespace

void multiply_by_alpha(Image& pixels, const Image& alpha) {
  with_sample_type(pixels.shape().depth, [&]<class T>(T*) { multiply<T>(pixels, alpha); });
}

void divide_by_alpha(Image& pixels, const Image& alpha) {
  with_sample_type(pixels.shape().depth, [&]<class T>(T*) { divide<T>(pixels, alpha); });
}

}  // namespace eckart::preparation
