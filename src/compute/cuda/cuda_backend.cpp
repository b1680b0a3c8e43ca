#include "compute/cuda/cuda_backend.hpp"

#include <algorithm>
#include <climits>
#include <cstdio>
#include <limits>
#include <numeric>

#include "compute/cost_model.hpp"
#include "compute/cuda/image_resizer.hpp"
#include "compute/cuda/kernels/small_svd.hpp"
#include "compute/cuda/kernels/unpack.hpp"
#include "compute/cuda/lane.hpp"
#include "compute/cuda/plan/batch_planner.hpp"
#include "compute/cuda/plan/built_in_costs.hpp"
#include "compute/cuda/plan/decoding_rates.hpp"
#include "compute/out_of_memory.hpp"
#include "core/error.hpp"
#include "core/instant.hpp"

namespace eckart::compute::cuda {
namespace {

std::vector<int> select_devices(const BackendOptions& options) {
  int found = 0;
  const cudaError_t status = cudaGetDeviceCount(&found);
  if (status != cudaSuccess || found == 0) {
    throw FatalError(ExitCode::unavailable,
                     std::string("no usable CUDA device: ") +
                         (status == cudaSuccess ? "none found" : cudaGetErrorString(status)));
  }
  std::vector<int> devices = options.devices;
  if (devices.empty()) {
    devices.resize(std::size_t(found));
    std::iota(devices.begin(), devices.end(), 0);
  }
  for (const int device : devices) {
    if (device < 0 || device >= found) {
      throw FatalError(ExitCode::unavailable,
                       "CUDA device " + std::to_string(device) +
                           " not found; devices on this machine: " + std::to_string(found));
    }
  }
  return devices;
}

void check_usable(int device, cudaError_t status) {
  if (status == cudaSuccess) return;
  throw FatalError(ExitCode::unavailable, "CUDA device " + std::to_string(device) +
                                              " cannot be used: " + cudaGetErrorString(status));
}

/// Throws FatalError(unavailable) if the device cannot be used.
cudaDeviceProp get_properties(int device) {
  cudaDeviceProp properties{};
  check_usable(device, cudaGetDeviceProperties(&properties, device));
  return properties;
}

template <class Text>
std::vector<std::string> describe_each(const std::vector<int>& devices, Text&& text) {
  std::vector<std::string> texts;
  texts.reserve(devices.size());
  for (const int device : devices) texts.push_back(text(get_properties(device)));
  return texts;
}

/// The format of NVML: 00000000:3B:00.0
std::string format_pci_id(const cudaDeviceProp& gpu) {
  char id[32];
  std::snprintf(id, sizeof id, "%08X:%02X:%02X.0", unsigned(gpu.pciDomainID),
                unsigned(gpu.pciBusID), unsigned(gpu.pciDeviceID));
  return id;
}

/// 13000 -> "13.0"
std::string format_version(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

/// The size of a GPU's memory in bytes. Throws FatalError(unavailable) if the device cannot be used
/// or this build has no code for it.
double query_memory_bytes(int device) {
  std::size_t free = 0, total = 0;
  cudaError_t status = cudaSetDevice(device);
  if (status == cudaSuccess) status = cudaMemGetInfo(&free, &total);
  if (status == cudaSuccess) status = device_code_status();
  check_usable(device, status);
  return double(total);
}

/// The limits that hold for all GPUs in use.
struct DeviceLimits {
  int max_float16_columns = INT_MAX;  ///< supported by the float16 kernels
  double memory_bytes = std::numeric_limits<double>::infinity();
};
DeviceLimits query_common_limits(const std::vector<int>& devices) {
  DeviceLimits limits;
  for (const int device : devices) {
    limits.max_float16_columns = std::min(limits.max_float16_columns, max_float16_columns(device));
    limits.memory_bytes = std::min(limits.memory_bytes, query_memory_bytes(device));
  }
  return limits;
}

/// The iterative solvers on a GPU have no loss bound. If a bound is requested, gram computes in
/// float64.
SolverKind select_provable_solver(const BackendOptions& options) {
  const bool needs_proof =
      options.certificate == Certificate::bound && is_iterative(options.solver);
  return needs_proof ? SolverKind::gram : options.solver;
}

/// The memory of one image that is resized, as a share of the memory for lanes. All workers of a
/// GPU use at most 1/32 in addition to the lanes.
constexpr double kResizeShare = 1.0 / (32 * 2 * ImageResizer::kWorkersPerGpu);

class CudaBackend : public Backend {
 public:
  explicit CudaBackend(const BackendOptions& options)
      : is_traced_(options.trace),
        solver_(select_provable_solver(options)),
        devices_(select_devices(options)),
        names_(describe_each(devices_,
                             [](const cudaDeviceProp& gpu) { return std::string(gpu.name); })),
        pci_ids_(describe_each(devices_, format_pci_id)),
        costs_(select_costs(options.calibration, CostBackend::cuda, names_.front(),
                            kBuiltInCudaCosts)),
        limits_(query_common_limits(devices_)),
        lanes_(lane_count(options.memory_fraction * limits_.memory_bytes, int(devices_.size()),
                          options.lanes)),
        planner_({.solver = solver_,
                  .costs = costs_.costs,
                  .batch_planes = options.batch_planes,
                  .max_float16_columns = limits_.max_float16_columns,
                  .lane_bytes = bytes_per_lane(options.memory_fraction * limits_.memory_bytes,
                                               int(devices_.size()), lanes_),
                  .is_single_solver = options.solver == SolverKind::gram,
                  .certificate = options.certificate,
                  .is_deterministic = options.deterministic}),
        resizer_(std::make_unique<ImageResizer>(
            devices_, std::size_t(options.memory_fraction * limits_.memory_bytes * kResizeShare))) {
  }

  std::string name() const override { return "cuda"; }
  std::string device_name() const override { return names_.front(); }
  std::vector<SolverChoice> solver_choices() const override { return planner_.solver_choices(); }

  std::string description() const override {
    std::string text;
    for (const std::string& gpu : names_) text += (text.empty() ? "" : " + ") + gpu;
    return text + ", " + std::to_string(lanes_) +
           (lanes_ == 1 ? " lane, solver " : " lanes, solver ") + to_string(solver_);
  }

  std::vector<std::string> details() const override {
    int driver = 0, runtime = 0, solver = 0, blas = 0;
    ECKART_CUDA_CHECK(cudaDriverGetVersion(&driver));
    ECKART_CUDA_CHECK(cudaRuntimeGetVersion(&runtime));
    ECKART_CUDA_CHECK(cusolverGetVersion(&solver));
    ECKART_CUDA_CHECK(cublasGetProperty(MAJOR_VERSION, &blas));
    std::vector<std::string> lines{"CUDA " + format_version(runtime) + ", driver for CUDA " +
                                       format_version(driver) + ", cuBLAS " + std::to_string(blas) +
                                       ", cuSOLVER " + std::to_string(solver),
                                   describe_source(costs_)};
    for (const int device : devices_) {
      const cudaDeviceProp gpu = get_properties(device);
      std::size_t free = 0, total = 0;
      ECKART_CUDA_CHECK(cudaSetDevice(device));
      ECKART_CUDA_CHECK(cudaMemGetInfo(&free, &total));
      lines.push_back("GPU " + std::to_string(device) + ": " + gpu.name + ", compute capability " +
                      std::to_string(gpu.major) + "." + std::to_string(gpu.minor) + ", " +
                      std::to_string(free >> 20) + " of " + std::to_string(total >> 20) +
                      " MiB free");
    }
    return lines;
  }

  int lanes() const override { return lanes_; }
  std::vector<std::string> gpu_bus_ids() const override { return pci_ids_; }

  int batch_planes(const BatchKey& key) const override { return planner_.batch_planes(key); }
  preparation::Resizer* resizer() const override { return resizer_.get(); }
  DecodingRate decoding_rate(ImageFormat format, const ImageShape& shape) const override {
    if (format != ImageFormat::jpeg && format != ImageFormat::png) return {};
    DecodingRate rate = decoding_rates_.rate(format, shape, Clock::now());
    // A lane decodes two batches at once, each of them more slowly. Together they count as one.
    rate.max_images = std::int64_t(lanes_) * planner_.target_planes(shape) / shape.channels;
    return rate;
  }
  std::vector<std::string> warnings() const override { return resizer_->warnings(); }

  std::unique_ptr<Lane> make_lane(int index) override {
    const int device = devices_[std::size_t(index) % devices_.size()];
    try {
      return std::make_unique<CudaLane>(planner_, decoding_rates_, device, is_traced_);
    } catch (const FatalError&) {
      throw;
    } catch (const OutOfMemory&) {  // probably because other programs use the memory
      throw;
    } catch (const std::exception& error) {
      throw DeviceLostError("could not create a lane on CUDA device " + std::to_string(device) +
                            ": " + error.what());
    }
  }

 private:
  const bool is_traced_;
  const SolverKind solver_;
  const std::vector<int> devices_;
  const std::vector<std::string> names_, pci_ids_;
  const MeasuredCosts costs_;  // of the first GPU; all GPUs of a machine are assumed equal
  const DeviceLimits limits_;
  const int lanes_;
  const BatchPlanner planner_;
  DecodingRates decoding_rates_;
  const std::unique_ptr<ImageResizer> resizer_;
};

}  // namespace

std::unique_ptr<Backend> make_cuda_backend(const BackendOptions& options) {
  return std::make_unique<CudaBackend>(options);
}

}  // namespace eckart::compute::cuda
