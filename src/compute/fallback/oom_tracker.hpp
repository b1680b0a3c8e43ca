#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "compute/backend.hpp"

namespace eckart {

/// What is known of the GPU's want of memory, what was done about it, and what the GPU computed.
/// Thread-safe; the lanes share one.
class OomTracker {
 public:
  using Warn = std::function<void(const std::string& warning)>;
  explicit OomTracker(Warn warn) : warn_(std::move(warn)) {}

  /// As many of `planes` as a batch of this kind may have.
  int limit_planes(const BatchKey& key, int planes) const;

  /// What did not fit; `why` is for people. From now on a batch of the kind has half as many.
  void record_batch_oom(const BatchKey& key, int planes, const std::string& cause);
  void record_image_oom(const BatchKey& key, const std::string& cause);
  void record_lane_oom(const std::string& cause);

  void record_gpu_images(std::size_t images);
  void record_split();
  void record_cpu_fallback();

  FallbackCounts fallback_counts() const;
  std::vector<std::string> warnings() const;

 private:
  struct BatchLimit {
    int max_planes = 0;  ///< 0: no limit was found
    bool cpu_reported = false;
  };

  BatchLimit& entry(const BatchKey& key);

  const Warn warn_;
  mutable std::mutex mutex_;
  std::map<BatchKey, BatchLimit> limits_;
  FallbackCounts counts_;
  bool lane_oom_reported_ = false;
};

}  // namespace eckart
