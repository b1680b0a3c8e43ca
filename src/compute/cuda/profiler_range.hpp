#pragma once

#include "compute/backend.hpp"

namespace eckart::cuda {

/// A named stretch of this thread's time, for a profiler (NVTX, domain "eckart"); Nsight Systems
/// shows with it what was queued meanwhile. Where no profiler listens it does next to nothing.
class ProfilerRange {
 public:
  explicit ProfilerRange(const char* name);
  /// NAME ROWS x COLS, PLANES planes
  ProfilerRange(const char* name, PaddedShape shape, int planes);
  ~ProfilerRange();
  ProfilerRange(const ProfilerRange&) = delete;
  ProfilerRange& operator=(const ProfilerRange&) = delete;

  /// Ends it here, and begins another.
  void next(const char* name) const;
};

}  // namespace eckart::cuda
