#include "compute/cuda/cuda_backend.hpp"

#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <numeric>

#include "compute/cost_model.hpp"
#include "compute/cuda/kernels/small_svd.hpp"
#include "compute/cuda/kernels/unpack.hpp"
#include "compute/cuda/lane.hpp"
#include "compute/cuda/plan/batch_capacity.hpp"
#include "compute/cuda/plan/built_in_costs.hpp"
#include "compute/cuda/plan/subspace_columns.hpp"
#include "compute/out_of_memory.hpp"
#include "compute/solver_choice.hpp"
#include "core/error.hpp"

namespace eckart::cuda {
namespace {

std::vector<int> devices_to_use(const BackendOptions& options) {
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

/// Throws FatalError(unavailable), as the next does.
cudaDeviceProp properties(int device) {
  cudaDeviceProp properties{};
  check_usable(device, cudaGetDeviceProperties(&properties, device));
  return properties;
}

template <class Text>
std::vector<std::string> describe_each(const std::vector<int>& devices, Text&& text) {
  std::vector<std::string> texts;
  for (const int device : devices) texts.push_back(text(properties(device)));
  return texts;
}

/// As NVML has it: 00000000:3B:00.0
std::string pci_id(const cudaDeviceProp& gpu) {
  char id[32];
  std::snprintf(id, sizeof id, "%08X:%02X:%02X.0", unsigned(gpu.pciDomainID),
                unsigned(gpu.pciBusID), unsigned(gpu.pciDeviceID));
  return id;
}

/// 13000 -> "13.0"
std::string version_text(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

/// Bytes of a GPU's memory, free and in use; shows that work can be done there.
double total_memory_bytes(int device) {
  std::size_t free = 0, total = 0;
  cudaError_t status = cudaSetDevice(device);
  if (status == cudaSuccess) status = cudaMemGetInfo(&free, &total);
  if (status == cudaSuccess) status = device_code_status();
  check_usable(device, status);
  return double(total);
}

/// The iterations on a GPU have an estimate alone: what is to be proven is computed in float64.
BackendOptions with_provable_solver(BackendOptions options) {
  if (options.certificate == Certificate::bound && is_iterative(options.solver))
    options.solver = SolverKind::gram;
  return options;
}

class CudaBackend : public Backend {
 public:
  explicit CudaBackend(const BackendOptions& options)
      : is_gram_requested_(options.solver == SolverKind::gram),
        options_(with_provable_solver(options)),
        devices_(devices_to_use(options)),
        names_(describe_each(devices_,
                             [](const cudaDeviceProp& gpu) { return std::string(gpu.name); })),
        pci_ids_(describe_each(devices_, pci_id)),
        device_(names_.front()),
        costs_(select_costs(options.calibration, "cuda", device_, kBuiltInCudaCosts)),
        chooser_(options_.solver, costs_.costs) {
    double memory = std::numeric_limits<double>::infinity();
    for (const int device : devices_) {
      max_float16_columns_ = std::min(max_float16_columns_, max_float16_columns(device));
      memory = std::min(memory, options.memory_fraction * total_memory_bytes(device));
    }
    const int devices = int(devices_.size());
    lanes_ = lane_count(memory, devices, options.lanes);
    lane_memory_bytes_ = bytes_per_lane(memory, devices, lanes_);
  }

  std::string name() const override { return "cuda"; }
  std::string device_name() const override { return device_; }
  std::vector<SolverChoice> solver_choices() const override { return chooser_.solver_choices(); }

  std::string description() const override {
    std::string text;
    for (const std::string& gpu : names_) text += (text.empty() ? "" : " + ") + gpu;
    return text + ", " + std::to_string(lanes_) +
           (lanes_ == 1 ? " lane, solver " : " lanes, solver ") + to_string(options_.solver);
  }

  std::vector<std::string> details() const override {
    int driver = 0, runtime = 0, solver = 0, blas = 0;
    ECKART_CUDA_CHECK(cudaDriverGetVersion(&driver));
    ECKART_CUDA_CHECK(cudaRuntimeGetVersion(&runtime));
    ECKART_CUDA_CHECK(cusolverGetVersion(&solver));
    ECKART_CUDA_CHECK(cublasGetProperty(MAJOR_VERSION, &blas));
    std::vector<std::string> lines{"CUDA " + version_text(runtime) + ", driver for CUDA " +
                                       version_text(driver) + ", cuBLAS " + std::to_string(blas) +
                                       ", cuSOLVER " + std::to_string(solver),
                                   describe_source(costs_)};
    for (const int device : devices_) {
      const cudaDeviceProp gpu = properties(device);
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

  int batch_planes(const BatchKey& key) const override {
    const PaddedShape shape = key.shape;
    int rank = 1;
    for (const RankPolicy& policy : key.ranks)
      rank = std::max(rank, choose_rank(policy, shape.rows, shape.cols));
    const BatchWorkload full = batch_size(shape, rank);
    const double bytes = plane_bytes(full, choose(full), key.ranks.size());
    return limit_planes_to_memory(target_batch_planes(shape, options_.batch_planes),
                                  lane_memory_bytes_, bytes);
  }

  std::unique_ptr<Lane> make_lane(int index) override {
    const int device = devices_[std::size_t(index) % devices_.size()];
    try {
      return std::make_unique<CudaLane>(LaneOptions{
          .device = device,
          .batch_size = [this](PaddedShape shape, int rank) { return batch_size(shape, rank); },
          .choose = [this](const BatchWorkload& full) { return choose(full); },
          .is_single_solver = is_gram_requested_,
          .deterministic = options_.deterministic,
          .trace = options_.trace,
          .batch_planes = [this](const BatchKey& key) { return batch_planes(key); }});
    } catch (const FatalError&) {
      throw;
    } catch (const OutOfMemory&) {  // its memory is another's, most often
      throw;
    } catch (const std::exception& error) {
      throw DeviceLostError("could not create a lane on CUDA device " + std::to_string(device) +
                            ": " + error.what());
    }
  }

 private:
  /// A full batch.
  BatchWorkload batch_size(PaddedShape shape, int rank) const {
    const int columns = cuda_subspace_columns(rank, max_float16_columns_);
    const std::int64_t target_planes = target_batch_planes(shape, options_.batch_planes);
    const auto planes = int(std::max<std::int64_t>(target_planes, 1));
    return {shape, rank, columns, planes, columns > max_float16_columns_};
  }

  /// By the costs of the first GPU; machines with several have equal ones.
  SolverKind choose(const BatchWorkload& full) const {
    return chooser_.choose(full, kMaxGramColumns);
  }

  const bool is_gram_requested_;  // and no other solver is to follow it
  const BackendOptions options_;
  const std::vector<int> devices_;
  int lanes_;
  const std::vector<std::string> names_, pci_ids_;
  const std::string device_;
  const MeasuredCosts costs_;
  mutable SolverChooser chooser_;
  double lane_memory_bytes_;           // bytes
  int max_float16_columns_ = INT_MAX;  // of subspace in float16, on every device
};

}  // namespace

std::unique_ptr<Backend> make_cuda_backend(const BackendOptions& options) {
  return std::make_unique<CudaBackend>(options);
}

}  // namespace eckart::cuda
