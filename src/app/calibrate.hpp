#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compute/backend.hpp"
#include "compute/cost_fit.hpp"

namespace eckart::app {

struct CalibrationRequest {
  CostBackend backend;  ///< that make_backend makes
  std::function<std::unique_ptr<Backend>(const BackendOptions&)> make_backend;
  double seconds;  ///< to measure for, about; but what is quick is timed thrice at least
  /// Told before each measurement; may be empty.
  std::function<void(int done, int total)> on_progress;
};

struct CalibrationResult {
  std::string device;
  std::vector<Timing> timings;
  SolverCosts costs;
};

/// Times both solvers on synthetic photographs of several shapes and ranks, on one lane from host
/// memory to host memory, and fits the cost model to that. Throws FatalError.
CalibrationResult calibrate(const CalibrationRequest& request);

}  // namespace eckart::app
