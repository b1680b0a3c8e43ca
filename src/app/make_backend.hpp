#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compute/backend.hpp"
#include "settings/calibration.hpp"
#include "settings/settings.hpp"

namespace eckart::app {

/// A backend, and why it is this one, in words for the log.
struct ChosenBackend {
  std::unique_ptr<Backend> backend;
  settings::BackendChoice kind;  ///< not automatic
  std::string selection_reason;
};

/// `cpu_lanes`: lanes of the CPU backend, 0 for one a core. What the GPU has no memory for is
/// computed in smaller batches or on the CPU. Throws FatalError(unavailable).
ChosenBackend make_backend(settings::BackendChoice choice, const BackendOptions& options,
                           int cpu_lanes);

/// The one that the settings ask for; tells the log which, and what was wrong with the calibration.
/// `trace`: as in BackendOptions.
ChosenBackend make_backend(const settings::Settings& settings,
                           const settings::LoadedCalibration& calibration, bool trace = false);

/// The CUDA backend alone, out of libeckart_cuda.so, which stays loaded. It is looked for beside
/// the program and in ../lib/eckart. Throws FatalError(unavailable) that says what is missing.
std::unique_ptr<Backend> make_cuda_backend(const BackendOptions& options);

}  // namespace eckart::app
