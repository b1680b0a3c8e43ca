#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace eckart::machine {

/// Resources that this process has used.
struct ProcessUsage {
  double cpu_s = 0;  ///< user and system, of all threads
  std::int64_t rss_bytes = 0, peak_rss_bytes = 0;
  int threads = 0;
};

/// Why the clocks of a GPU are throttled.
enum class ThrottleReason { power, thermal, hardware, sync, other };
constexpr int kThrottleReasonCount = int(ThrottleReason::other) + 1;
std::string_view to_string(ThrottleReason throttle);

/// The usage of one GPU over an interval, as measured by NVML.
struct GpuUsage {
  std::string uuid;
  double seconds = 0;        ///< sampled time
  double busy_s = 0;         ///< time in which a kernel ran
  double memory_busy_s = 0;  ///< time in which memory was read or written
  double energy_j = 0;
  std::int64_t memory_used_bytes =
      0;  ///< used by all processes; this and the next three at the end of the interval
  int sm_mhz = 0, memory_mhz = 0, temperature_c = 0;
  /// Number of samples in which the clocks were throttled, by ThrottleReason.
  std::array<std::int64_t, kThrottleReasonCount> throttled_samples{};
};

/// The resources of the machine, and how this process and others used them.
struct MachineUsage {
  int cores = 0;  ///< logical CPUs that this process may use; 0: unknown
  /// Time in which cores of the machine ran no process, summed over all cores; 0: unknown.
  double idle_core_s = 0;
  ProcessUsage process;
  std::vector<GpuUsage> gpus;
};

}  // namespace eckart::machine
