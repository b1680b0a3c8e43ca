#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "compute/backend.hpp"

namespace eckart::app {

/// The interval between two GPU health probes of a service, and the time after which a probe counts
/// as hung. The timeout equals the watchdog interval of the systemd unit.
constexpr std::chrono::seconds kGpuProbeInterval{30}, kGpuProbeTimeout{120};

/// Checks that every GPU of a backend computes. Uses its own lanes, which never fall back to the
/// CPU. Does not depend on CUDA: a backend without GPUs passes. Used by one thread.
class GpuHealthProbe {
 public:
  /// Makes the lanes; throws as Backend::make_gpu_lane(). The backend must outlive this object.
  explicit GpuHealthProbe(compute::Backend& backend);

  /// Reconstructs a small matrix of rank 1 on each GPU and compares it with the input. Throws
  /// DeviceLostError if they differ, and OutOfMemory. Blocks as long as a device hangs.
  void run();

 private:
  std::vector<std::unique_ptr<compute::Lane>> lanes_;  // one per device
};

}  // namespace eckart::app
