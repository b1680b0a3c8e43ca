#include "analysis/residual.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "analysis/samples.hpp"

namespace eckart::analysis {
namespace {

int center(Depth depth) { return (peak(depth) + 1) / 2; }

/// The smallest and the largest difference of two samples.
struct DifferenceRange {
  int min = 0, max = 0;
};

template <class Sample>
DifferenceRange difference_range(const Image& a, const Image& b) {
  DifferenceRange range;
  for (std::size_t i = 0; i < a.shape().samples(); ++i) {
    const int difference = int(samples<Sample>(a)[i]) - int(samples<Sample>(b)[i]);
    range.min = std::min(range.min, difference);
    range.max = std::max(range.max, difference);
  }
  return range;
}

template <class Sample>
void subtract(const Image& a, const Image& b, double gain, Image& residual) {
  const Depth depth = residual.shape().depth;
  Sample* out = reinterpret_cast<Sample*>(residual.data());
  for (std::size_t i = 0; i < residual.shape().samples(); ++i) {
    const int difference = int(samples<Sample>(a)[i]) - int(samples<Sample>(b)[i]);
    const double value = center(depth) + std::nearbyint(gain * difference);
    out[i] = Sample(std::clamp(value, 0.0, double(peak(depth))));
  }
}

void subtract_floats(const Image& a, const Image& b, double gain, Image& residual) {
  float* out = reinterpret_cast<float*>(residual.data());
  for (std::size_t i = 0; i < residual.shape().samples(); ++i)
    out[i] = float(gain * (double(samples<float>(a)[i]) - double(samples<float>(b)[i])));
}

}  // namespace

double largest_residual_gain(const Image& original, const Image& reconstruction) {
  const Depth depth = original.shape().depth;
  if (is_float(depth)) return 1;
  const DifferenceRange range = depth == Depth::u8
                                    ? difference_range<std::uint8_t>(original, reconstruction)
                                    : difference_range<std::uint16_t>(original, reconstruction);
  if (range.min == 0 && range.max == 0) return 1;
  double gain = center(depth);  // too large, or just right for differences of -1
  while (gain * range.max > peak(depth) - center(depth) || gain * range.min < -center(depth))
    gain /= 2;
  return gain;
}

Image residual_image(const Image& original, const Image& reconstruction, double gain) {
  Image residual(original.shape());
  if (is_float(original.shape().depth)) {
    subtract_floats(original, reconstruction, gain, residual);
  } else if (original.shape().depth == Depth::u8) {
    subtract<std::uint8_t>(original, reconstruction, gain, residual);
  } else {
    subtract<std::uint16_t>(original, reconstruction, gain, residual);
  }
  return residual;
}

}  // namespace eckart::analysis
