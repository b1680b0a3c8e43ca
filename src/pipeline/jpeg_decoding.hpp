#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "compute/backend.hpp"

namespace eckart::pipeline {

/// Chooses whether load threads or the backend decode JPEGs, by the rates of this run.
/// Thread-safe.
class JpegDecoding {
 public:
  explicit JpegDecoding(int load_threads) : load_threads_(load_threads) {}

  void set_load_threads(int load_threads) { load_threads_ = load_threads; }

  /// A load thread has decoded a JPEG of this size.
  void add_loaded(std::size_t bytes, std::chrono::nanoseconds time);
  /// The backend has decoded a JPEG, or has found it irregular: then libjpeg had to decode it.
  void add_computed(bool is_irregular);

  /// Whether the backend decodes a JPEG of this size sooner than load threads would, if `images`
  /// are in the pipeline.
  bool prefers_backend(const compute::JpegDecodingRate& backend, std::size_t bytes,
                       std::int64_t images) const;

 private:
  double loading_s_per_byte() const;

  std::atomic<int> load_threads_;
  std::atomic<std::int64_t> loaded_bytes_{0}, loaded_ns_{0};
  std::atomic<std::int64_t> computed_{0}, irregular_{0};
};

}  // namespace eckart::pipeline
