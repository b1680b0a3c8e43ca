#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "compute/backend.hpp"
#include "core/image_format.hpp"

namespace eckart::pipeline {

/// Chooses for each format whether load threads or the backend decode files, by the rates of this
/// run. Thread-safe.
class InputDecoding {
 public:
  explicit InputDecoding(int load_threads) : load_threads_(load_threads) {}

  void set_load_threads(int load_threads) { load_threads_ = load_threads; }

  /// A load thread has decoded a file of this size.
  void add_loaded(ImageFormat format, std::size_t bytes, std::chrono::nanoseconds time);
  /// The backend has decoded a file, or has found it irregular: then the CPU had to decode it.
  void add_computed(ImageFormat format, bool is_irregular);

  /// Whether the backend decodes a file of this size sooner than load threads would, if `images`
  /// are in the pipeline. While too many files of the format are irregular, it does for few.
  bool prefers_backend(ImageFormat format, const compute::DecodingRate& backend, std::size_t bytes,
                       std::int64_t images);

 private:
  /// What was counted of a format.
  struct Counts {
    std::atomic<std::int64_t> loaded_bytes{0}, loaded_ns{0};
    std::atomic<std::int64_t> computed{0}, irregular{0};  // the older, the less they count
    std::atomic<std::int64_t> refused{0};                 // while too many were irregular

    double loading_s_per_byte() const;
  };
  static constexpr std::size_t kFormats = enum_names(ImageFormat::png).size();

  Counts& counts(ImageFormat format) { return counts_[std::size_t(format)]; }

  std::atomic<int> load_threads_;
  std::array<Counts, kFormats> counts_;
};

}  // namespace eckart::pipeline
