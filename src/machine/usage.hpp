#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace eckart::machine {

/// What the machine gave this process.
struct ProcessUsage {
  double cpu_s = 0;  ///< user and system, of all threads
  std::int64_t rss_bytes = 0, peak_rss_bytes = 0;
  int threads = 0;
};

/// Why a GPU's clocks are held down.
enum class ThrottleReason { power, thermal, hardware, sync, other };
constexpr int kThrottleReasonCount = int(ThrottleReason::other) + 1;
std::string_view to_string(ThrottleReason throttle);

/// One GPU in some time, as NVML has it.
struct GpuUsage {
  std::string uuid;
  double seconds = 0;        ///< that were looked at
  double busy_s = 0;         ///< of these, in which a kernel ran
  double memory_busy_s = 0;  ///< likewise, in which memory was read or written
  double energy_j = 0;
  std::int64_t memory_used_bytes = 0;  ///< by everyone, at the end, and the following
  int sm_mhz = 0, memory_mhz = 0, temperature_c = 0;
  /// How often, of a look each second, clocks were held down, by ThrottleReason.
  std::array<std::int64_t, kThrottleReasonCount> throttled_samples{};
};

/// What the machine has, and this process and others had of it.
struct MachineUsage {
  int cores = 0;  ///< logical CPUs that this process may use; 0: not known
  ProcessUsage process;
  std::vector<GpuUsage> gpus;
};

}  // namespace eckart::machine
