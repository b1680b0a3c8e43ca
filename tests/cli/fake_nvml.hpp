#pragma once

/// The values of the GPU of fake_nvml.cpp, which exports them as `fake_nvml`.
struct FakeNvml {
  unsigned long long total_free_used[3] = {1ULL << 30, 1ULL << 30, 1ULL << 30};  ///< bytes
  unsigned power_mw = 300500;
  unsigned long long energy_mj = 0;                  ///< 0: not supported
  unsigned clock_mhz[4] = {1500, 1500, 1500, 1500};  ///< by type of NVML
  unsigned long long throttle_reasons = 0x04;        ///< the power limit
  bool has_utilization = true;
};
