#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "telemetry/snapshot.hpp"

namespace eckart::telemetry {

struct GpuFacts {
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
  std::vector<GpuFacts> facts() const;

  /// Looks at each GPU, for the `seconds` since the last look; to be called each second or so.
  void look(double seconds);
  /// From the first look to the last; energy from the beginning.
  const std::vector<GpuUse>& uses() const { return uses_; }

 private:
  struct Library;
  struct Device;
  std::unique_ptr<Library> library_;
  std::vector<Device> devices_;
  std::vector<GpuUse> uses_;  // of each
};

}  // namespace eckart::telemetry
