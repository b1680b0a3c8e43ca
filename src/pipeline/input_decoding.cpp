#include "pipeline/input_decoding.hpp"

#include <algorithm>

namespace eckart::pipeline {
namespace {

/// Of libjpeg-turbo and libdeflate, for small and for large images
/// (docs/explanation/performance.md), until this run has decoded so many bytes.
constexpr double kLoadingSPerByte = 11e-9;
constexpr std::int64_t kMinLoadedBytes = 100'000;
/// The images of a batch wait for its largest one.
constexpr double kMaxBackendS = 0.1;
/// A batch with irregular images is computed twice. So few of them must be irregular: of the last
/// images, of which there are 512 to 1,024 once so many were computed.
constexpr std::int64_t kMinComputed = 256, kMaxComputed = 1024;
constexpr double kMaxIrregular = 0.02;
/// While too many are irregular, one in so many images shows whether it is still so.
constexpr std::int64_t kTrialPeriod = 50;

}  // namespace

void InputDecoding::add_loaded(ImageFormat format, std::size_t bytes,
                               std::chrono::nanoseconds time) {
  counts(format).loaded_ns += time.count();
  counts(format).loaded_bytes += std::int64_t(bytes);
}

void InputDecoding::add_computed(ImageFormat format, bool is_irregular) {
  Counts& counts = this->counts(format);
  counts.irregular += is_irregular ? 1 : 0;
  if (++counts.computed != kMaxComputed) return;  // one thread sees this number
  counts.computed -= kMaxComputed / 2;
  counts.irregular -= counts.irregular / 2;
}

double InputDecoding::Counts::loading_s_per_byte() const {
  const std::int64_t bytes = loaded_bytes;
  return bytes < kMinLoadedBytes ? kLoadingSPerByte : 1e-9 * double(loaded_ns) / double(bytes);
}

bool InputDecoding::prefers_backend(ImageFormat format, const compute::DecodingRate& backend,
                                    std::size_t bytes, std::int64_t images) {
  if (backend.max_images == 0 || backend.s(bytes) > kMaxBackendS) return false;
  Counts& counts = this->counts(format);
  const std::int64_t computed = counts.computed;
  if (computed >= kMinComputed && double(counts.irregular) > kMaxIrregular * double(computed) &&
      ++counts.refused % kTrialPeriod != 0)
    return false;
  const double backend_images_per_s =
      double(std::min(images, backend.max_images)) / backend.s(bytes);
  const double loaded_images_per_s =
      double(load_threads_.load()) / (counts.loading_s_per_byte() * double(bytes));
  return backend_images_per_s > loaded_images_per_s;
}

}  // namespace eckart::pipeline
