#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "bench/operation/device.hpp"
#include "bench/peers/peers.hpp"
#include "bench/report/table.hpp"
#include "compute/backend.hpp"
#include "machine/gpu_monitor.hpp"

namespace eckart::bench {

using MakeBackend =
    std::function<std::unique_ptr<compute::Backend>(const compute::BackendOptions&)>;

/// What the experiments measure.
struct Devices {
  std::unique_ptr<Device> cpu;
  int cores = 1;
  std::unique_ptr<Gpu> gpu;           ///< null: there is none
  std::string no_gpu_reason;          ///< why
  double gpu_start_s = 0;             ///< loading the libraries of the GPU and creating its context
  std::unique_ptr<Peers> peers = {};  ///< null: they are not compared
  /// The backends of runs, with the lanes that are asked for, or that they choose. That of the GPU
  /// may throw the reason why there is none.
  MakeBackend make_cpu_backend = {}, make_gpu_backend = {};
};

/// The CPU and the first GPU, without the backends. libeckart_bench_kernels.so is loaded for the
/// GPU.
Devices find_devices();

/// Adds the libraries of this Python, which is searched in PATH and ends after a stop request.
/// Throws std::runtime_error with the reason if it does not run.
void add_peers(Devices& devices, const std::string& python, const std::stop_token& stop);

/// Reads the clock of a GPU and why it is throttled, through NVML.
class GpuClock {
 public:
  /// For the GPU of the devices. Reads nothing if there is none, or NVML is missing.
  explicit GpuClock(const Devices& devices);
  /// To be called directly after work of the GPU.
  void read();
  /// The GPU, and all readings; nothing without a GPU.
  std::optional<MeasuredGpu> gpu() const { return gpu_; }

 private:
  std::optional<machine::GpuMonitor> monitor_;
  std::optional<MeasuredGpu> gpu_;
};

/// A report without tables: the machine and the program.
Report describe_machine(const std::string& experiment, const Devices& devices,
                        const GpuClock& clock);

/// What makes figures of this machine less exact or lower than they could be: one line each.
std::vector<std::string> machine_warnings();

}  // namespace eckart::bench
