#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <map>
#include <mutex>

#include "compute/backend.hpp"
#include "core/image.hpp"
#include "core/image_format.hpp"
#include "core/instant.hpp"

namespace eckart::compute::cuda {

/// The time that an H100 takes to decode an image with so many bytes of data
/// (docs/explanation/performance.md). Without max_images. `format`: JPEG or PNG.
DecodingRate built_in_decoding_rate(ImageFormat format, const ImageShape& shape);

/// How long these GPUs take to decode images: built_in_decoding_rate(), corrected by what batches
/// took in the last minute. Thread-safe.
class DecodingRates {
 public:
  /// Batches that must show it before it is corrected. The first ones include the loading of
  /// kernels, and memory that grows.
  static constexpr std::size_t kMinBatches = 5, kMaxBatches = 15;
  static constexpr std::chrono::seconds kMaxAge{60};

  DecodingRate rate(ImageFormat format, const ImageShape& shape, Instant now) const;
  /// The images of this format in a batch took `measured_s`, and would have taken `built_in_s` on
  /// an H100: the longest of their times, because a batch waits for its slowest image.
  void add_batch(ImageFormat format, double built_in_s, double measured_s, Instant now);

 private:
  struct Batch {
    Instant time;
    double ratio;  ///< measured to built in
  };
  double ratio(ImageFormat format, Instant now) const;

  mutable std::mutex mutex_;
  std::map<ImageFormat, std::deque<Batch>> batches_;  // the oldest first
};

}  // namespace eckart::compute::cuda
