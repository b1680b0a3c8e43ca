#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <limits>
#include <mutex>

#include "compute/backend.hpp"
#include "core/image.hpp"
#include "core/image_format.hpp"
#include "core/instant.hpp"

namespace eckart::compute::cuda {

/// The time that an H100 takes to decode an image with so many bytes of data
/// (docs/explanation/performance.md). Without max_images. `format`: JPEG or PNG.
DecodingRate built_in_decoding_rate(ImageFormat format, const ImageShape& shape);

/// How long these GPUs take to decode images: built_in_decoding_rate(), times what batches took in
/// proportion to it. Of the last batches the fastest counts: it was delayed least by the work of
/// other batches. After a minute without batches the rate is the built-in one again, so that GPUs
/// that were too slow, perhaps for another program, get some batches again. Thread-safe.
class DecodingRates {
 public:
  static constexpr std::size_t kMinBatches = 3, kMaxBatches = 16;
  static constexpr std::chrono::seconds kMaxAge{60};

  /// Does not wait for other threads.
  DecodingRate rate(ImageFormat format, const ImageShape& shape, Instant now) const;
  /// The images of this format in a batch took `measured_s`, and would have taken `built_in_s` on
  /// an H100: the longest of their times, because a batch waits for its slowest image.
  void add_batch(ImageFormat format, double built_in_s, double measured_s, Instant now);

 private:
  struct Batch {
    Instant time;
    double ratio;  ///< measured to built in
  };
  struct Format {
    std::deque<Batch> batches;  // the oldest first; under the mutex
    std::atomic<double> ratio{1};
    std::atomic<Instant::rep> last_batch{std::numeric_limits<Instant::rep>::min()};
  };
  std::mutex mutex_;
  std::array<Format, enum_names(ImageFormat::png).size()> formats_;
};

}  // namespace eckart::compute::cuda
