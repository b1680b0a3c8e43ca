#include "compute/cuda/plan/decoding_rates.hpp"

#include <algorithm>
#include <vector>

namespace eckart::compute::cuda {
namespace {

/// To reverse the filters of a PNG, in seconds: of the steps of a warp, which takes 32 rows at a
/// time.
double unfilter_s(const ImageShape& shape) {
  constexpr double kSPerUnfilterStep = 0.4e-6;  // for each channel
  constexpr int kRows = 32, kStepPixels = 4;
  const int steps = (shape.rows + kRows - 1) / kRows * (shape.cols / kStepPixels + kRows);
  return kSPerUnfilterStep * double(shape.channels) * double(steps);
}

}  // namespace

DecodingRate built_in_decoding_rate(ImageFormat format, const ImageShape& shape) {
  constexpr double kSPerImage = 0.4e-3, kSPerJpegByte = 0.035e-6, kSPerPngByte = 0.042e-6;
  if (format == ImageFormat::jpeg) return {.s_per_image = kSPerImage, .s_per_byte = kSPerJpegByte};
  return {.s_per_image = kSPerImage + unfilter_s(shape), .s_per_byte = kSPerPngByte};
}

DecodingRate DecodingRates::rate(ImageFormat format, const ImageShape& shape, Instant now) const {
  DecodingRate rate = built_in_decoding_rate(format, shape);
  const double ratio = this->ratio(format, now);
  rate.s_per_image *= ratio;
  rate.s_per_byte *= ratio;
  return rate;
}

void DecodingRates::add_batch(ImageFormat format, double built_in_s, double measured_s,
                              Instant now) {
  const std::lock_guard lock(mutex_);
  std::deque<Batch>& batches = batches_[format];
  if (batches.size() == kMaxBatches) batches.pop_front();
  batches.push_back({now, measured_s / built_in_s});
}

/// The median of recent batches.
double DecodingRates::ratio(ImageFormat format, Instant now) const {
  std::vector<double> ratios;
  {
    const std::lock_guard lock(mutex_);
    if (const auto batches = batches_.find(format); batches != batches_.end())
      for (const Batch& batch : batches->second)
        if (now - batch.time <= kMaxAge) ratios.push_back(batch.ratio);
  }
  if (ratios.size() < kMinBatches) return 1;
  const auto middle = ratios.begin() + std::ptrdiff_t(ratios.size() / 2);
  std::nth_element(ratios.begin(), middle, ratios.end());
  return *middle;
}

}  // namespace eckart::compute::cuda
