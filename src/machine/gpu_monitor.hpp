#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "machine/usage.hpp"

namespace eckart::machine {

struct GpuInfo {
  std::string uuid, name;
  std::int64_t memory_bytes = 0;
  double power_limit_w = 0;
};

/// Measures some GPUs through NVML, the management library of NVIDIA. The library comes with the
/// driver and is loaded at run time; without it, no GPU is measured. For one thread.
class GpuMonitor {
 public:
  /// `pci_ids`: as Backend::gpu_bus_ids() returns them, such as 00000000:3B:00.0. Takes about 10
  /// ms.
  explicit GpuMonitor(const std::vector<std::string>& pci_ids);
  ~GpuMonitor();
  GpuMonitor(const GpuMonitor&) = delete;
  GpuMonitor& operator=(const GpuMonitor&) = delete;

  const std::string& driver() const;  ///< its version; empty if unknown
  std::vector<GpuInfo> read_gpu_infos() const;

  /// Samples each GPU. `seconds`: the time since the last sample. To be called about once per
  /// second.
  void sample(double seconds);
  /// From the first sample to the last; energy since construction.
  const std::vector<GpuUsage>& usages() const { return usages_; }

 private:
  struct NvmlLibrary;
  struct Device;
  std::unique_ptr<NvmlLibrary> library_;
  std::vector<Device> devices_;
  std::vector<GpuUsage> usages_;  // one per device
};

}  // namespace eckart::machine
