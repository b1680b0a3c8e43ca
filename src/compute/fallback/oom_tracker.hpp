#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "compute/backend.hpp"

namespace eckart::compute {

/// Records where GPU memory ran out, what was done about it, and what the GPU computed.
/// Thread-safe; shared by all lanes.
class OomTracker {
 public:
  using Warn = std::function<void(const std::string& warning)>;
  explicit OomTracker(Warn warn) : warn_(std::move(warn)) {}

  /// The smaller of `planes` and the limit of this batch key.
  int limit_planes(const BatchKey& key, int planes) const;

  /// Records what did not fit. `cause` is text for people. record_batch_oom() halves the limit of
  /// the batch key.
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
    int max_planes = 0;  ///< 0: no limit
    bool is_cpu_fallback_reported = false;
  };

  BatchLimit& find_or_add(const BatchKey& key);

  const Warn warn_;
  mutable std::mutex mutex_;
  std::map<BatchKey, BatchLimit> limits_;
  FallbackCounts counts_;
  bool is_lane_oom_reported_ = false;
};

}  // namespace eckart::compute
