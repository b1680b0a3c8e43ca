#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "compute/backend.hpp"

namespace eckart::cli {

/// Measures the solver costs of `backend`, created by `make`, in about `seconds`. Prints them and
/// the error of the cost model.
MeasuredCosts measure_costs(
    CostBackend backend,
    const std::function<std::unique_ptr<compute::Backend>(const compute::BackendOptions&)>& make,
    double seconds);

/// Returns the costs in the file; empty if the file does not exist. Throws settings::SettingsError.
Calibration read_stored_costs(const std::filesystem::path& file);

/// Adds measured costs to the file, and replaces earlier costs of the same devices. Throws
/// FatalError.
void store_costs(const std::filesystem::path& file, const Calibration& measured);

}  // namespace eckart::cli
