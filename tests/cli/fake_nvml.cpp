// Replaces libnvidia-ml.so.1 with one GPU that has constant values.
#include <cstring>

namespace {

constexpr int kSuccess = 0;

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
  for (int i = 0; i < 3; ++i) total_free_used[i] = 1ULL << 30;
  return kSuccess;
}
int nvmlDeviceGetEnforcedPowerLimit(void*, unsigned* mw) { return set(mw, 700000); }
int nvmlDeviceGetPowerUsage(void*, unsigned* mw) { return set(mw, 300500); }
int nvmlDeviceGetUtilizationRates(void*, unsigned* gpu_and_memory) {
  return set(gpu_and_memory, 50) + set(gpu_and_memory + 1, 25);
}
int nvmlDeviceGetClockInfo(void*, unsigned, unsigned* mhz) { return set(mhz, 1500); }
int nvmlDeviceGetTemperature(void*, unsigned, unsigned* degrees) { return set(degrees, 60); }
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* reasons) {
  *reasons = 0x04;  // the power limit
  return kSuccess;
}
}
// NOLINTEND(readability-identifier-naming)
