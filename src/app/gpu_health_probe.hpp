#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "compute/backend.hpp"

namespace eckart::app {

/// The interval between two probes of the GPUs of a service, and the time after which a probe
/// counts as hung: that of the unit's watchdog.
constexpr std::chrono::seconds kGpuProbeInterval{30}, kGpuProbeTimeout{120};

/// Shows that every GPU of a backend still computes, by lanes of its own, which never fall back to
/// the CPU. Knows no CUDA: a backend without GPUs passes. One thread.
class GpuHealthProbe {
 public:
  /// Makes the lanes; throws as Backend::make_gpu_lane(). The backend must outlive it.
  explicit GpuHealthProbe(Backend& backend);

  /// One small matrix of rank 1 on each GPU, which must come back as it is. Throws DeviceLostError
  /// where it does not, and OutOfMemory; waits as long as a device does that hangs.
  void run();

 private:
  std::vector<std::unique_ptr<Lane>> lanes_;  // one a device
};

}  // namespace eckart::app
