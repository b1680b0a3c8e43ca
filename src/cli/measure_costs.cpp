#include "cli/measure_costs.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <string>
#include <system_error>
#include <vector>

#include "app/calibrate.hpp"
#include "compute/cost_model.hpp"
#include "core/error.hpp"
#include "io/publication.hpp"
#include "logging/progress.hpp"
#include "logging/terminal_line.hpp"
#include "settings/calibration.hpp"
#include "text/format_duration.hpp"
#include "text/printable.hpp"

namespace eckart::cli {
namespace {

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char date[16];
  return {date, std::strftime(date, sizeof date, "%Y-%m-%d", &local)};
}

/// Returns the relative error of the cost model; 0.1 means 10 % above the measured time.
double deviation(const compute::Timing& timing, const SolverCosts& costs) {
  return compute::estimate_seconds(timing.solver, timing.batch, costs) / timing.seconds - 1;
}

void print_timings(CostBackend backend, const app::CalibrationResult& result) {
  std::vector<double> deviations;
  for (const compute::Timing& timing : result.timings) {
    if (compute::is_used_in_fit(timing))
      deviations.push_back(std::abs(deviation(timing, result.costs)));
  }
  std::sort(deviations.begin(), deviations.end());
  std::printf(
      "%-8s %s: solver costs measured; the model is %.0f %% off (median of %zu), %.0f %% at most\n",
      to_string(backend).c_str(), result.device.c_str(), 100 * deviations[deviations.size() / 2],
      deviations.size(), 100 * deviations.back());
  std::printf("         solver    rows  cols  rank  planes  measured   model (a plane)\n");
  for (const compute::Timing& timing : result.timings) {
    const compute::BatchWorkload& batch = timing.batch;
    std::printf("         %-8s %5d %5d %5d  %6d %9s %7s  %+.0f %%%s\n",
                to_string(timing.solver).c_str(), batch.shape.rows, batch.shape.cols, batch.rank,
                batch.planes, text::format_duration(timing.seconds / batch.planes).c_str(),
                text::format_duration(
                    compute::estimate_seconds(timing.solver, batch, result.costs) / batch.planes)
                    .c_str(),
                100 * deviation(timing, result.costs),
                compute::is_used_in_fit(timing) ? "" : " (in float64, at the costs of gram)");
  }
}

void print_costs(const char* solver, const CostCoefficients& costs) {
  std::printf("         %s:", solver);
  for (const auto& [name, coefficient] : kCostTerms)
    std::printf(" %s %.3g", name, costs.*coefficient);
  std::printf("\n");
}

}  // namespace

MeasuredCosts measure_costs(
    CostBackend backend,
    const std::function<std::unique_ptr<compute::Backend>(const compute::BackendOptions&)>& make,
    double seconds) {
  std::function<void(int, int)> on_progress;
  if (logging::stderr_is_terminal()) {
    on_progress = [](int done, int total) {
      logging::stderr_line().show("measuring: " + std::to_string(done) + "/" +
                                  std::to_string(total));
    };
  }
  const app::CalibrationResult result = app::calibrate(
      {.backend = backend, .make_backend = make, .seconds = seconds, .on_progress = on_progress});
  logging::stderr_line().erase();
  print_timings(backend, result);
  print_costs("subspace", result.costs.subspace);
  print_costs("gram", result.costs.gram);
  return {backend, result.device, today(), result.costs};
}

Calibration read_stored_costs(const std::filesystem::path& file) {
  std::error_code unreadable;
  if (!std::filesystem::exists(file, unreadable)) return {};
  return settings::read_calibration(file);
}

void store_costs(const std::filesystem::path& file, const Calibration& measured) {
  Calibration all = measured;
  for (const MeasuredCosts& old : read_stored_costs(file)) {
    const bool is_replaced = std::any_of(measured.begin(), measured.end(), [&](const auto& fresh) {
      return fresh.backend == old.backend && fresh.device == old.device;
    });
    if (!is_replaced) all.push_back(old);
  }
  const std::string yaml = settings::to_yaml(all);
  try {
    io::publish_file(file, std::as_bytes(std::span(yaml)));
  } catch (const ItemError& error) {
    throw FatalError(ExitCode::cannot_create, text::printable(file.native()) + ": " + error.what());
  }
  std::printf("stored in %s\n", text::printable(file.native()).c_str());
}

}  // namespace eckart::cli
