#pragma once

#include "compute/backend.hpp"

namespace eckart::compute::cuda {

/// A named range of this thread's time for a profiler (NVTX, domain "eckart"). Nsight Systems shows
/// the work that was queued in it. Without a profiler its cost is negligible.
class ProfilerRange {
 public:
  explicit ProfilerRange(const char* name);
  /// The name is "NAME ROWS x COLS, PLANES planes".
  ProfilerRange(const char* name, PaddedShape shape, int planes);
  ~ProfilerRange();
  ProfilerRange(const ProfilerRange&) = delete;
  ProfilerRange& operator=(const ProfilerRange&) = delete;

  /// Ends this range and begins another.
  void next(const char* name) const;
};

}  // namespace eckart::compute::cuda
