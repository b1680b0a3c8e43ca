#include "bench/experiments/devices.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include "bench/cpu/cpu_device.hpp"
#include "build_id/build_id.hpp"
#include "build_id/module.hpp"
#include "machine/gpu_monitor.hpp"
#include "machine/machine_info.hpp"
#include "machine/unix_time.hpp"

namespace eckart::bench {
namespace {

std::unique_ptr<Gpu> load_gpu() {
  using MakeGpu = Gpu* (*)();
  const auto make_gpu =
      reinterpret_cast<MakeGpu>(load_cuda_function("eckart_bench_kernels", "eckart_make_gpu"));
  return std::unique_ptr<Gpu>(make_gpu());
}

}  // namespace

Devices find_devices() {
  Devices devices;
  devices.cores = machine::machine_info().cores;
  devices.cpu = make_cpu_device(devices.cores);
  const auto begin = std::chrono::steady_clock::now();
  try {
    devices.gpu = load_gpu();
    devices.gpu_start_s =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  } catch (const std::runtime_error& error) {
    devices.no_gpu_reason = error.what();
  }
  return devices;
}

void add_peers(Devices& devices, const std::string& python, const std::stop_token& stop) {
  devices.peers = start_peers(python, *devices.cpu, devices.gpu.get(), devices.cores, stop);
}

GpuClock::GpuClock(const Devices& devices) {
  if (!devices.gpu) return;
  const GpuProperties properties = devices.gpu->properties();
  monitor_.emplace(std::vector{properties.bus_id});
  gpu_ = MeasuredGpu{.name = properties.name, .driver = monitor_->driver()};
}

void GpuClock::read() {
  if (!monitor_) return;
  monitor_->sample(1);
  for (const machine::GpuUsage& usage : monitor_->usages()) {
    if (usage.sm_mhz <= 0) continue;
    if (gpu_->min_mhz == 0) gpu_->min_mhz = usage.sm_mhz;
    gpu_->min_mhz = std::min(gpu_->min_mhz, usage.sm_mhz);
    gpu_->max_mhz = std::max(gpu_->max_mhz, usage.sm_mhz);
    for (int reason = 0; reason < machine::kThrottleReasonCount; ++reason) {
      if (const std::int64_t samples = usage.throttled_samples.at(std::size_t(reason)); samples > 0)
        gpu_->throttled[std::string(to_string(machine::ThrottleReason(reason)))] = samples;
    }
  }
}

Report describe_machine(const std::string& experiment, const Devices& devices,
                        const GpuClock& clock) {
  const machine::MachineInfo machine = machine::machine_info();
  return {.experiment = experiment,
          .time = machine::utc_timestamp(machine::unix_now_s()),
          .version = ECKART_VERSION,
          .build_id = build_id(),
          .cpu = machine.cpu,
          .cores = machine.cores,
          .gpu = clock.gpu(),
          .no_gpu_reason = devices.no_gpu_reason,
          .peers = devices.peers ? devices.peers->versions() : std::map<std::string, std::string>(),
          .warnings = machine_warnings()};
}

std::vector<std::string> machine_warnings() {
  const std::string warning = openblas_warning();
  return warning.empty() ? std::vector<std::string>() : std::vector{warning};
}

}  // namespace eckart::bench
