#include "analysis/comparison.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <type_traits>

#include "analysis/samples.hpp"
#include "core/error.hpp"

namespace eckart::analysis {
namespace {

/// Samples whose sums of squares fit in 64 bits, and in 32 bits if the samples have 8.
constexpr std::size_t kBlock = 4096;

/// The types in which samples are compared. Sums of integers are exact.
template <class Sample>
struct Arithmetic {
  using Difference = std::int32_t;
  using Sum = std::conditional_t<sizeof(Sample) == 1, std::uint32_t, std::uint64_t>;
};
template <>
struct Arithmetic<float> {
  using Difference = double;
  using Sum = double;
};

template <class Sample>
Comparison compare_samples(std::span<const Sample> a, std::span<const Sample> b) {
  using Difference = typename Arithmetic<Sample>::Difference;
  using Sum = typename Arithmetic<Sample>::Sum;
  Comparison result;
  for (std::size_t begin = 0; begin < a.size(); begin += kBlock) {
    const std::size_t end = std::min(begin + kBlock, a.size());
    Sum squared_error = 0, squared_norm = 0;
    Difference max_error = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const Difference error = std::abs(Difference(a[i]) - Difference(b[i]));
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
  return with_sample_type(a.shape().depth, [&]<class Sample>(Sample*) {
    return compare_samples(samples<Sample>(a), samples<Sample>(b));
  });
}

double sample_range(const Image& image) {
  return with_sample_type(image.shape().depth, [&]<class Sample>(Sample*) {
    const auto [min, max] = std::ranges::minmax(samples<Sample>(image));
    return double(max) - double(min);
  });
}

namespace {

template <class GetRange>
Peak choose_peak(const PeakChoice& choice, Depth depth, int bits_stored, GetRange&& range) {
  switch (choice.source) {
    case PeakSource::number:
      return {choice.number, choice.source};
    case PeakSource::range:
      return {range(), choice.source};
    case PeakSource::dtype:
      if (is_float(depth))
        throw ItemError(FailureReason::unsupported,
                        "quality.peak=dtype: float samples have no largest value; use range, or "
                        "the number that stands for white");
      break;
    case PeakSource::automatic:
      if (is_float(depth)) return {range(), PeakSource::range};
      if (bits_stored > 0 && bits_stored < 8 * int(depth))
        return {double((1 << bits_stored) - 1), PeakSource::bits_stored};
      break;
    case PeakSource::bits_stored:  // parse_peak() does not return it
      break;
  }
  return {double(peak(depth)), PeakSource::dtype};
}

}  // namespace

Peak resolve_peak(const PeakChoice& choice, const Image& input, int bits_stored) {
  return choose_peak(choice, input.shape().depth, bits_stored, [&] { return sample_range(input); });
}

Peak resolve_peak(const PeakChoice& choice, Depth depth, double range) {
  return choose_peak(choice, depth, /*bits_stored=*/0, [&] { return range; });
}

std::string describe_unused_bits(const Image& image) {
  constexpr int kMaxBits = 14;
  if (image.shape().depth != Depth::u16) return {};
  unsigned used = 0;
  for (const std::uint16_t sample : samples<std::uint16_t>(image)) used |= sample;
  const int bits = std::bit_width(used);
  if (bits == 0 || bits > kMaxBits) return {};
  return "all samples are below " + std::to_string(1 << bits) +
         ", but PSNR and SSIM have the peak 65535; set quality.peak to that of the image, such "
         "as " +
         std::to_string((1 << bits) - 1) + ", or to dtype";
}

SampleStatistics sample_statistics(const Image& image) {
  return with_sample_type(image.shape().depth, [&]<class Sample>(Sample*) {
    const std::span<const Sample> all = samples<Sample>(image);
    const auto [min, max] = std::ranges::minmax(all);
    SampleStatistics statistics{double(min), double(max), {}};
    const auto channels = std::size_t(image.shape().channels);
    for (std::size_t c = 0; c < channels; ++c) {
      double sum = 0;
      for (std::size_t i = c; i < all.size(); i += channels) sum += double(all[i]);
      statistics.mean.push_back(sum / (double(all.size()) / double(channels)));
    }
    return statistics;
  });
}

}  // namespace eckart::analysis
