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
/// A batch with irregular images is computed twice. So few of them must be irregular.
constexpr std::int64_t kMinComputed = 256;
constexpr double kMaxIrregular = 0.02;

}  // namespace

void InputDecoding::add_loaded(ImageFormat format, std::size_t bytes,
                               std::chrono::nanoseconds time) {
  counts(format).loaded_ns += time.count();
  counts(format).loaded_bytes += std::int64_t(bytes);
}

void InputDecoding::add_computed(ImageFormat format, bool is_irregular) {
  counts(format).irregular += is_irregular ? 1 : 0;
  ++counts(format).computed;
}

double InputDecoding::Counts::loading_s_per_byte() const {
  const std::int64_t bytes = loaded_bytes;
  return bytes < kMinLoadedBytes ? kLoadingSPerByte : 1e-9 * double(loaded_ns) / double(bytes);
}

bool InputDecoding::prefers_backend(ImageFormat format, const compute::DecodingRate& backend,
                                    std::size_t bytes, std::int64_t images) const {
  if (backend.max_images == 0 || backend.s(bytes) > kMaxBackendS) return false;
  const Counts& counts = this->counts(format);
  const std::int64_t computed = counts.computed;
  if (computed >= kMinComputed && double(counts.irregular) > kMaxIrregular * double(computed))
    return false;
  const double backend_images_per_s =
      double(std::min(images, backend.max_images)) / backend.s(bytes);
  const double loaded_images_per_s =
      double(load_threads_.load()) / (counts.loading_s_per_byte() * double(bytes));
  return backend_images_per_s > loaded_images_per_s;
}

}  // namespace eckart::pipeline
