#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compute/backend.hpp"
#include "compute/cost_fit.hpp"

namespace eckart::app {

struct CalibrationRequest {
  CostBackend backend;  ///< the backend that make_backend() makes
  std::function<std::unique_ptr<compute::Backend>(const compute::BackendOptions&)> make_backend;
  double seconds;  ///< approximate time to measure; each case is timed at least three times
  /// Called before each measurement; may be empty.
  std::function<void(int done, int total)> on_progress;
};

struct CalibrationResult {
  std::string device;
  std::vector<compute::Timing> timings;
  SolverCosts costs;
};

/// Times both solvers on synthetic photographs of several shapes and ranks and fits the cost model.
/// Uses one lane and includes the transfers from and to host memory. Throws FatalError.
CalibrationResult calibrate(const CalibrationRequest& request);

}  // namespace eckart::app
