#include "analysis/comparison.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

namespace eckart::analysis {
namespace {

/// Samples whose sums of squares fit in 64 bits, and in 32 bits if the samples have 8.
constexpr std::size_t kBlock = 4096;

template <class Sample>
std::span<const Sample> samples(const Image& image) {
  return {reinterpret_cast<const Sample*>(image.data()), image.shape().samples()};
}

/// Calls `use` with the samples of the image as a span of their type.
template <class Use>
auto with_samples(const Image& image, Use&& use) {
  return image.shape().depth == Depth::u8 ? use(samples<std::uint8_t>(image))
                                          : use(samples<std::uint16_t>(image));
}

template <class Sample>
Comparison compare_samples(std::span<const Sample> a, std::span<const Sample> b) {
  using Sum = std::conditional_t<sizeof(Sample) == 1, std::uint32_t, std::uint64_t>;
  Comparison result;
  for (std::size_t begin = 0; begin < a.size(); begin += kBlock) {
    const std::size_t end = std::min(begin + kBlock, a.size());
    Sum squared_error = 0, squared_norm = 0;
    std::int32_t max_error = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const std::int32_t difference = std::int32_t(a[i]) - std::int32_t(b[i]);
      const std::int32_t error = std::abs(difference);
      squared_error += Sum(error) * Sum(error);
      squared_norm += Sum(a[i]) * Sum(a[i]);
      max_error = std::max(max_error, error);
    }
    result.squared_error += double(squared_error);
    result.squared_norm += double(squared_norm);
    result.max_error = std::max(result.max_error, double(max_error));
  }
  return result;
}

}  // namespace

Comparison compare(const Image& a, const Image& b) {
  return with_samples(a, [&]<class Sample>(std::span<const Sample> values) {
    return compare_samples(values, samples<Sample>(b));
  });
}

double sample_range(const Image& image) {
  return with_samples(image, [](auto values) {
    const auto [min, max] = std::ranges::minmax(values);
    return double(max) - double(min);
  });
}

Peak resolve_peak(const PeakChoice& choice, const Image& input) {
  switch (choice.source) {
    case PeakSource::number:
      return {choice.number, choice.source};
    case PeakSource::range:
      return {sample_range(input), choice.source};
    case PeakSource::dtype:
      break;
  }
  return {double(peak(input.shape().depth)), PeakSource::dtype};
}

}  // namespace eckart::analysis
