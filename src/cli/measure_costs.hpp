#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "compute/backend.hpp"

namespace eckart::cli {

/// Measures what the solvers of `backend`, which `make` makes, take; prints that, and how near the
/// cost model is.
MeasuredCosts measure_costs(
    CostBackend backend, const std::function<std::unique_ptr<Backend>(const BackendOptions&)>& make,
    double seconds);

/// The file's, or none where it is not there. Throws settings::SettingsError.
Calibration read_stored_costs(const std::filesystem::path& file);

/// Adds what was measured to the file, in the place of what it had of the same devices. Throws
/// FatalError.
void store_costs(const std::filesystem::path& file, const Calibration& measured);

}  // namespace eckart::cli
