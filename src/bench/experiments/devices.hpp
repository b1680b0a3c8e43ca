#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/operation/device.hpp"

namespace eckart::bench {

/// What the experiments measure.
struct Devices {
  std::unique_ptr<Device> cpu;
  int cores = 1;
  std::unique_ptr<Gpu> gpu;   ///< null: there is none
  std::string no_gpu_reason;  ///< why
};

/// The CPU and the first GPU. libeckart_bench_kernels.so is loaded for the GPU.
Devices find_devices();

/// Names and values of the machine and the program, for a report.
std::vector<std::pair<std::string, std::string>> describe_machine(const Devices& devices);

/// What makes figures of this machine less exact or lower than they could be: one line each.
std::vector<std::string> machine_warnings();

}  // namespace eckart::bench
