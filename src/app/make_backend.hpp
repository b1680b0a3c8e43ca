#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compute/backend.hpp"
#include "settings/calibration.hpp"
#include "settings/settings.hpp"

namespace eckart::app {

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

/// Makes the backend that the settings select. Logs the choice and any error of the calibration
/// file. `trace`: as in BackendOptions.
ChosenBackend make_backend(const settings::Settings& settings,
                           const settings::LoadedCalibration& calibration, bool trace = false);

/// Makes only the CUDA backend, from libeckart_cuda.so, which stays loaded. The file is searched
/// beside the program and in ../lib/eckart. Throws FatalError(unavailable) with the missing
/// component.
std::unique_ptr<compute::Backend> make_cuda_backend(const compute::BackendOptions& options);

}  // namespace eckart::app
