#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>

#include "app/make_backend.hpp"
#include "app/run.hpp"
#include "core/solver_costs.hpp"

namespace eckart::app {

/// The largest number of inputs for which a prediction is made. Listing them takes about 10 ms.
inline constexpr std::size_t kMaxPredictedInputs = 20'000;

/// Predicts from the headers of the inputs, of at most 256 of them. Looks at 16 if these show that
/// `max_seconds` would be exceeded several times. Returns nullopt if nothing is known in time: more
/// inputs than kMaxPredictedInputs, a list that can be read only once, a solver without a cost
/// model. The result depends only on the inputs, the settings, the calibration and the machine.
std::optional<CpuPrediction> predict_cpu_time(const RunRequest& request,
                                              const Calibration& calibration, double max_seconds);

/// The same for files of which one lane takes `image_seconds`.
CpuPrediction predict_cpu_time(
    std::span<const std::filesystem::path> files, int lanes, double max_seconds,
    const std::function<double(const std::filesystem::path& file)>& image_seconds);

}  // namespace eckart::app
