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

/// Some GPUs, as NVIDIA's management library sees them. It is loaded here, at run time, since it
/// comes with the driver; without it nothing is known. For one thread.
class GpuMonitor {
 public:
  /// `pci_ids`: 00000000:3B:00.0, as Backend::gpus() has them. Takes some 10 ms.
  explicit GpuMonitor(const std::vector<std::string>& pci_ids);
  ~GpuMonitor();
  GpuMonitor(const GpuMonitor&) = delete;
  GpuMonitor& operator=(const GpuMonitor&) = delete;

  const std::string& driver() const;  ///< its version; empty if not known
  std::vector<GpuInfo> infos() const;

  /// Looks at each GPU, for the `seconds` since the last look; to be called each second or so.
  void sample(double seconds);
  /// From the first look to the last; energy from the beginning.
  const std::vector<GpuUsage>& usages() const { return usages_; }

 private:
  struct NvmlLibrary;
  struct Device;
  std::unique_ptr<NvmlLibrary> library_;
  std::vector<Device> devices_;
  std::vector<GpuUsage> usages_;  // of each
};

}  // namespace eckart::machine
