// Replaces libnvidia-ml.so.1 with one GPU that has constant values, unless a test sets them.
#include "fake_nvml.hpp"

#include <cstring>

namespace {

constexpr int kSuccess = 0, kNotSupported = 3;

int set(unsigned* value, unsigned number) {
  *value = number;
  return kSuccess;
}
int set(char* text, unsigned size, const char* value) {
  std::strncpy(text, value, size);
  return kSuccess;
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): names of NVML
extern "C" {
FakeNvml fake_nvml;

int nvmlInit_v2() { return kSuccess; }
int nvmlShutdown() { return kSuccess; }
int nvmlSystemGetDriverVersion(char* text, unsigned size) { return set(text, size, "1.2"); }
int nvmlDeviceGetHandleByPciBusId_v2(const char*, void** device) {
  *device = nullptr;
  return kSuccess;
}
int nvmlDeviceGetUUID(void*, char* text, unsigned size) { return set(text, size, "GPU-0"); }
int nvmlDeviceGetName(void*, char* text, unsigned size) { return set(text, size, "a GPU"); }
int nvmlDeviceGetMemoryInfo(void*, unsigned long long* total_free_used) {
  std::memcpy(total_free_used, fake_nvml.total_free_used, sizeof fake_nvml.total_free_used);
  return kSuccess;
}
int nvmlDeviceGetEnforcedPowerLimit(void*, unsigned* mw) { return set(mw, 700000); }
int nvmlDeviceGetPowerUsage(void*, unsigned* mw) { return set(mw, fake_nvml.power_mw); }
int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long* mj) {
  if (fake_nvml.energy_mj == 0) return kNotSupported;
  *mj = fake_nvml.energy_mj;
  return kSuccess;
}
int nvmlDeviceGetUtilizationRates(void*, unsigned* gpu_and_memory) {
  if (!fake_nvml.has_utilization) return kNotSupported;
  return set(gpu_and_memory, 50) + set(gpu_and_memory + 1, 25);
}
int nvmlDeviceGetClockInfo(void*, unsigned clock, unsigned* mhz) {
  return set(mhz, fake_nvml.clock_mhz[clock]);
}
int nvmlDeviceGetTemperature(void*, unsigned, unsigned* degrees) { return set(degrees, 60); }
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* reasons) {
  *reasons = fake_nvml.throttle_reasons;
  return kSuccess;
}
}
// NOLINTEND(readability-identifier-naming)
