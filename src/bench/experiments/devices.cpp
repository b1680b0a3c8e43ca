#include "bench/experiments/devices.hpp"

#include <dlfcn.h>
#include <spdlog/fmt/fmt.h>

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
  constexpr const char* kModule = "eckart_bench_kernels";
  // Without the driver, loading cuBLAS takes time for nothing.
  if (is_installed(kModule) && !dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL))
    throw std::runtime_error("no NVIDIA driver was found (libcuda.so.1)");
  const auto make_gpu = reinterpret_cast<MakeGpu>(load_function(kModule, "eckart_make_gpu"));
  return std::unique_ptr<Gpu>(make_gpu());
}

}  // namespace

Devices find_devices() {
  Devices devices;
  devices.cores = machine::machine_info().cores;
  devices.cpu = make_cpu_device(devices.cores);
  try {
    devices.gpu = load_gpu();
  } catch (const std::runtime_error& error) {
    devices.no_gpu_reason = error.what();
  }
  return devices;
}

std::vector<std::pair<std::string, std::string>> describe_machine(const Devices& devices) {
  const machine::MachineInfo machine = machine::machine_info();
  std::vector<std::pair<std::string, std::string>> lines = {
      {"time", machine::utc_timestamp(machine::unix_now_s())},
      {"version", ECKART_VERSION},
      {"build_id", build_id()},
      {"cpu", fmt::format("{}, {} cores", machine.cpu, machine.cores)}};
  if (!devices.gpu) {
    lines.emplace_back("gpu", "none: " + devices.no_gpu_reason);
    return lines;
  }
  const GpuProperties gpu = devices.gpu->properties();
  lines.emplace_back("gpu", gpu.name);
  lines.emplace_back("driver", machine::GpuMonitor({gpu.bus_id}).driver());
  return lines;
}

std::vector<std::string> machine_warnings() {
  const std::string warning = openblas_warning();
  return warning.empty() ? std::vector<std::string>() : std::vector{warning};
}

}  // namespace eckart::bench
