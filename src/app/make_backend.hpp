#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "compute/backend.hpp"
#include "core/error.hpp"
#include "settings/calibration.hpp"
#include "settings/settings.hpp"

namespace eckart::app {

/// The CUDA module cannot be used: it is not installed, cannot be loaded, or is of another build.
class CudaModuleError : public FatalError {
 public:
  explicit CudaModuleError(const std::string& message)
      : FatalError(ExitCode::unavailable, message) {}
};

/// A backend and the reason for its choice, as text for the log.
struct ChosenBackend {
  std::unique_ptr<compute::Backend> backend;
  settings::BackendChoice kind;  ///< never automatic
  std::string selection_reason;
};

/// `cpu_lanes` is the number of lanes of the CPU backend; 0 means one per core. If GPU memory runs
/// out, batches are split or computed on the CPU. Throws FatalError(unavailable).
ChosenBackend make_backend(settings::BackendChoice choice, const compute::BackendOptions& options,
                           int cpu_lanes);

/// CUDA is not started for images that the CPU is predicted to compute in less time than this. With
/// more, CUDA was faster on the host where it was measured, including its start:
/// docs/explanation/performance.md#cuda-or-not.
inline constexpr double kMinCpuSecondsForCuda = 0.6;

/// How long the CPU would process the images of a run. Reading and writing files is left out,
/// because the CPU does it for the GPU too.
struct CpuPrediction {
  std::size_t images = 0;
  double seconds = 0;  ///< with all lanes
};

/// Whether a prediction may choose the backend: with `backend: auto`, if the CUDA module is
/// installed, and if outputs may depend on the other images of a run.
bool may_choose_by_time(const settings::Settings& settings);

/// Makes the backend that the settings select. Logs the choice and any error of the calibration
/// file. `trace`: as in BackendOptions. `cpu`, if may_choose_by_time(): CUDA is not started if
/// the prediction is below kMinCpuSecondsForCuda.
ChosenBackend make_backend(const settings::Settings& settings,
                           const settings::LoadedCalibration& calibration, bool trace = false,
                           const std::optional<CpuPrediction>& cpu = {});

/// Makes only the CPU backend, with the lanes of the options; 0 means one per core.
std::unique_ptr<compute::Backend> make_cpu_backend(const compute::BackendOptions& options);

/// Makes only the CUDA backend, from libeckart_cuda.so, which stays loaded. The file is searched
/// beside the program and in ../lib/eckart. Throws CudaModuleError, or FatalError(unavailable) with
/// the missing component.
std::unique_ptr<compute::Backend> make_cuda_backend(const compute::BackendOptions& options);

}  // namespace eckart::app
