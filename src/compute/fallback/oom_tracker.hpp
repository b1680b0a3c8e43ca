#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compute/backend.hpp"
#include "compute/out_of_memory.hpp"

namespace eckart::compute {

/// Records where memory ran out, what was done about it, and what the GPU computed.
/// Thread-safe; shared by all lanes.
class OomTracker {
 public:
  using Warn = std::function<void(const std::string& warning)>;
  explicit OomTracker(Warn warn) : warn_(std::move(warn)) {}

  /// The smaller of `planes` and the limit of this batch key.
  int limit_planes(const BatchKey& key, int planes) const;

  /// Records what did not fit, and warns of it once for each batch key and kind of record.
  /// record_batch_oom() halves the limit of the batch key.
  void record_batch_oom(const BatchKey& key, int planes, const OutOfMemory& cause);
  void record_image_oom(const BatchKey& key, const OutOfMemory& cause);
  void record_lane_oom(const OutOfMemory& cause);

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
  std::string describe_memory() const;

  const Warn warn_;
  mutable std::mutex mutex_;
  std::map<BatchKey, BatchLimit> limits_;
  FallbackCounts counts_;
  bool is_lane_oom_reported_ = false;
  std::set<MemoryKind> exhausted_;  // the kinds of memory that ran out
};

}  // namespace eckart::compute
