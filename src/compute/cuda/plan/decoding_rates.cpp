#include "compute/cuda/plan/decoding_rates.hpp"

#include <algorithm>

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
  const Format& measured = formats_[std::size_t(format)];
  if (now.time_since_epoch().count() - kMaxAge / Instant::duration(1) > measured.last_batch)
    return rate;
  const double ratio = measured.ratio;
  rate.s_per_image *= ratio;
  rate.s_per_byte *= ratio;
  return rate;
}

void DecodingRates::add_batch(ImageFormat format, double built_in_s, double measured_s,
                              Instant now) {
  const std::lock_guard lock(mutex_);
  Format& measured = formats_[std::size_t(format)];
  std::deque<Batch>& batches = measured.batches;
  batches.push_back({now, measured_s / built_in_s});
  while (batches.size() > kMaxBatches || now - batches.front().time > kMaxAge) batches.pop_front();
  const auto fastest =
      std::min_element(batches.begin(), batches.end(),
                       [](const Batch& a, const Batch& b) { return a.ratio < b.ratio; });
  measured.ratio = batches.size() < kMinBatches ? 1 : fastest->ratio;
  measured.last_batch = now.time_since_epoch().count();
}

}  // namespace eckart::compute::cuda
