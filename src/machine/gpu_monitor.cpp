#include "machine/gpu_monitor.hpp"

#include <dlfcn.h>

#include <array>
#include <optional>
#include <utility>

namespace eckart::machine {
namespace nvml {

// The used part of nvml.h, declared here because not every toolkit has it. Its names and numbers
// are stable.
using Handle = struct nvmlDevice_st*;
using Unsigned64 = unsigned long long;
constexpr int kSuccess = 0;
constexpr unsigned kSmClock = 1, kMemoryClock = 2, kGpuTemperature = 0;
struct Utilization {
  unsigned gpu, memory;  // percent
};
struct MemoryInfo {
  Unsigned64 total, free, used;
};

/// Values of nvmlClocksThrottleReason. Idle clocks and clocks set by applications or displays are
/// ignored.
ThrottleReason throttle_reason_of(Unsigned64 bit) {
  switch (bit) {
    case 0x04:  // SwPowerCap
    case 0x80:  // HwPowerBrakeSlowdown
      return ThrottleReason::power;
    case 0x20:  // SwThermalSlowdown
    case 0x40:  // HwThermalSlowdown
      return ThrottleReason::thermal;
    case 0x08:  // HwSlowdown
      return ThrottleReason::hardware;
    case 0x10:  // SyncBoost
      return ThrottleReason::sync;
    default:
      return ThrottleReason::other;
  }
}
constexpr Unsigned64 kIgnoredThrottleReasons = 0x01 | 0x02 | 0x100;

std::int64_t to_int64(Unsigned64 number) { return std::int64_t(number); }

}  // namespace nvml

using namespace nvml;

/// Functions of NVML; null if the library does not have them. No other function is called unless
/// `init` succeeded.
struct GpuMonitor::NvmlLibrary {
  template <class... Arguments>
  using Function = int (*)(Arguments...);

  NvmlLibrary() : handle(::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)) {
    if (!handle) return;
    load_symbol(init, "nvmlInit_v2");
    load_symbol(shutdown, "nvmlShutdown");
    load_symbol(driver_version, "nvmlSystemGetDriverVersion");
    load_symbol(by_pci_id, "nvmlDeviceGetHandleByPciBusId_v2");
    load_symbol(uuid, "nvmlDeviceGetUUID");
    load_symbol(name, "nvmlDeviceGetName");
    load_symbol(memory, "nvmlDeviceGetMemoryInfo");
    load_symbol(power_limit_mw, "nvmlDeviceGetEnforcedPowerLimit");
    load_symbol(utilization, "nvmlDeviceGetUtilizationRates");
    load_symbol(energy_mj, "nvmlDeviceGetTotalEnergyConsumption");
    load_symbol(power_mw, "nvmlDeviceGetPowerUsage");
    load_symbol(clock_mhz, "nvmlDeviceGetClockInfo");
    load_symbol(temperature, "nvmlDeviceGetTemperature");
    load_symbol(throttle_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
    is_ready = call(init);
    read_text(driver_version, driver);
  }
  ~NvmlLibrary() {
    if (is_ready) call(shutdown);
    if (handle) ::dlclose(handle);
  }
  NvmlLibrary(const NvmlLibrary&) = delete;
  NvmlLibrary& operator=(const NvmlLibrary&) = delete;

  template <class... Parameters, class... Arguments>
  static bool call(Function<Parameters...> function, Arguments... arguments) {
    return function && function(arguments...) == kSuccess;
  }
  /// Calls a function whose last arguments are a buffer and its size, and stores the text.
  template <class... Parameters, class... Arguments>
  bool read_text(Function<Parameters...> function, std::string& value,
                 Arguments... arguments) const {
    std::array<char, 128> buffer{};
    if (!is_ready || !call(function, arguments..., buffer.data(), unsigned(buffer.size() - 1)))
      return false;
    value = buffer.data();
    return true;
  }

  void* handle;
  bool is_ready = false;
  std::string driver;
  Function<> init = nullptr, shutdown = nullptr;
  Function<char*, unsigned> driver_version = nullptr;
  Function<const char*, Handle*> by_pci_id = nullptr;
  Function<Handle, char*, unsigned> uuid = nullptr, name = nullptr;
  Function<Handle, MemoryInfo*> memory = nullptr;
  Function<Handle, unsigned*> power_limit_mw = nullptr, power_mw = nullptr;
  Function<Handle, Utilization*> utilization = nullptr;
  Function<Handle, Unsigned64*> energy_mj = nullptr, throttle_reasons = nullptr;
  Function<Handle, unsigned, unsigned*> clock_mhz = nullptr, temperature = nullptr;

 private:
  template <class F>
  void load_symbol(F& function, const char* symbol) {
    function = reinterpret_cast<F>(::dlsym(handle, symbol));
  }
};

struct GpuMonitor::Device {
  Handle handle;
  std::optional<Unsigned64> energy_mj;  // at the last sample; counted since the driver was loaded
};

GpuMonitor::GpuMonitor(const std::vector<std::string>& pci_ids)
    : library_(std::make_unique<NvmlLibrary>()) {
  for (const std::string& id : pci_ids) {
    Device device{};
    if (!library_->is_ready || !NvmlLibrary::call(library_->by_pci_id, id.c_str(), &device.handle))
      continue;
    GpuUsage usage;
    library_->read_text(library_->uuid, usage.uuid, device.handle);
    Unsigned64 energy_mj = 0;
    if (NvmlLibrary::call(library_->energy_mj, device.handle, &energy_mj))
      device.energy_mj = energy_mj;
    devices_.push_back(device);
    usages_.push_back(std::move(usage));
  }
}

GpuMonitor::~GpuMonitor() = default;

const std::string& GpuMonitor::driver() const { return library_->driver; }

std::vector<GpuInfo> GpuMonitor::read_gpu_infos() const {
  std::vector<GpuInfo> infos;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    const Handle device = devices_[i].handle;
    GpuInfo info{.uuid = usages_[i].uuid, .name = {}};
    library_->read_text(library_->name, info.name, device);
    MemoryInfo memory{};
    if (NvmlLibrary::call(library_->memory, device, &memory))
      info.memory_bytes = to_int64(memory.total);
    unsigned limit_mw = 0;
    if (NvmlLibrary::call(library_->power_limit_mw, device, &limit_mw))
      info.power_limit_w = 1e-3 * limit_mw;
    infos.push_back(std::move(info));
  }
  return infos;
}

void GpuMonitor::sample(double seconds) {
  const NvmlLibrary& nvml = *library_;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    Device& device = devices_[i];
    GpuUsage& usage = usages_[i];
    Utilization busy{};
    if (NvmlLibrary::call(nvml.utilization, device.handle, &busy)) {
      usage.seconds += seconds;
      usage.busy_s += 0.01 * busy.gpu * seconds;
      usage.memory_busy_s += 0.01 * busy.memory * seconds;
    }
    Unsigned64 energy_mj = 0, reasons = 0;
    unsigned power_mw = 0;
    if (NvmlLibrary::call(nvml.energy_mj, device.handle, &energy_mj)) {
      const Unsigned64 earlier_energy_mj =
          std::exchange(device.energy_mj, energy_mj).value_or(energy_mj);
      if (energy_mj > earlier_energy_mj)
        usage.energy_j += 1e-3 * double(energy_mj - earlier_energy_mj);
    } else if (NvmlLibrary::call(nvml.power_mw, device.handle, &power_mw)) {
      usage.energy_j += 1e-3 * power_mw * seconds;
      device.energy_mj.reset();  // so that this interval is not counted twice
    }
    MemoryInfo memory{};
    if (NvmlLibrary::call(nvml.memory, device.handle, &memory))
      usage.memory_used_bytes = to_int64(memory.used);
    unsigned number = 0;
    if (NvmlLibrary::call(nvml.clock_mhz, device.handle, kSmClock, &number))
      usage.sm_mhz = int(number);
    if (NvmlLibrary::call(nvml.clock_mhz, device.handle, kMemoryClock, &number))
      usage.memory_mhz = int(number);
    if (NvmlLibrary::call(nvml.temperature, device.handle, kGpuTemperature, &number))
      usage.temperature_c = int(number);
    NvmlLibrary::call(nvml.throttle_reasons, device.handle, &reasons);
    reasons &= ~kIgnoredThrottleReasons;
    std::array<bool, kThrottleReasonCount> is_throttled{};
    for (Unsigned64 bit = 1; bit != 0 && bit <= reasons; bit <<= 1) {
      if (reasons & bit) is_throttled[std::size_t(throttle_reason_of(bit))] = true;
    }
    for (std::size_t reason = 0; reason < is_throttled.size(); ++reason)
      usage.throttled_samples[reason] += is_throttled[reason];
  }
}

}  // namespace eckart::machine
