#include "pipeline/jpeg_decoding.hpp"

#include <algorithm>

namespace eckart::pipeline {
namespace {

/// Of libjpeg-turbo, for small and for large images (docs/explanation/performance.md), until this
/// run has decoded so many bytes.
constexpr double kLoadingSPerByte = 11e-9;
constexpr std::int64_t kMinLoadedBytes = 100'000;
/// The images of a batch wait for its largest one.
constexpr double kMaxBackendS = 0.1;
/// A batch with irregular images is computed twice. So few of them must be irregular.
constexpr std::int64_t kMinComputed = 256;
constexpr double kMaxIrregular = 0.02;

}  // namespace

void JpegDecoding::add_loaded(std::size_t bytes, std::chrono::nanoseconds time) {
  loaded_ns_ += time.count();
  loaded_bytes_ += std::int64_t(bytes);
}

void JpegDecoding::add_computed(bool is_irregular) {
  irregular_ += is_irregular ? 1 : 0;
  ++computed_;
}

double JpegDecoding::loading_s_per_byte() const {
  const std::int64_t bytes = loaded_bytes_;
  return bytes < kMinLoadedBytes ? kLoadingSPerByte : 1e-9 * double(loaded_ns_) / double(bytes);
}

bool JpegDecoding::prefers_backend(const compute::JpegDecodingRate& backend, std::size_t bytes,
                                   std::int64_t images) const {
  if (backend.max_images == 0 || backend.s(bytes) > kMaxBackendS) return false;
  const std::int64_t computed = computed_;
  if (computed >= kMinComputed && double(irregular_) > kMaxIrregular * double(computed))
    return false;
  const double backend_images_per_s =
      double(std::min(images, backend.max_images)) / backend.s(bytes);
  const double loaded_images_per_s =
      double(load_threads_.load()) / (loading_s_per_byte() * double(bytes));
  return backend_images_per_s > loaded_images_per_s;
}

}  // namespace eckart::pipeline
