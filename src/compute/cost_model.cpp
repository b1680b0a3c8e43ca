#include "compute/cost_model.hpp"

#include <algorithm>
#include <cstdio>
#include <stdexcept>

namespace eckart {
namespace {

// Of subspace in float64. It does about five, but most of gram's flops are the eigensolver's, and
// these take more than three times as long.
constexpr double kFloat64Rounds = 1.5;

}  // namespace

std::array<double, kCostTerms.size()> work(SolverKind solver, const BatchSize& batch) {
  const double m = batch.shape.rows, n = batch.shape.cols, k = batch.rank, l = batch.columns;
  const double planes = batch.planes;
  switch (solver) {
    case SolverKind::subspace:
      if (batch.float64) {
        return {1, planes * m * n, planes * kFloat64Rounds * (4 * m * n * l + 3 * (m + n) * l * l),
                planes * l * l, planes * l * l * l};
      }
      return {1, planes * m * n, planes * 2 * (m * n * l + (m + n) * l * l), planes * l * l,
              planes * l * l * l};
    case SolverKind::gram: {
      const double b = std::min(batch.rank, most_bisected(batch.shape.cols));
      return {1, planes * m * n,
              planes * (m * n * n + 4 * m * n * k + 2 * n * n * b + 4 * n * b * b), planes * n * b,
              planes * n * n * n};
    }
    default:
      throw std::logic_error("there is no cost model of " + to_string(solver));
  }
}

double seconds(SolverKind solver, const BatchSize& batch, const SolverCosts& costs) {
  const bool float64 = solver == SolverKind::gram || batch.float64;
  const Costs& prices = float64 ? costs.gram : costs.subspace;
  const auto amounts = work(solver, batch);
  double sum = 0;
  for (std::size_t i = 0; i < amounts.size(); ++i) sum += prices.*kCostTerms[i].price * amounts[i];
  return sum;
}

MeasuredCosts costs_of(const Calibration& calibration, const std::string& backend,
                       const std::string& device, const SolverCosts& built_in) {
  const auto found =
      std::find_if(calibration.begin(), calibration.end(), [&](const MeasuredCosts& measured) {
        return measured.backend == backend && measured.device == device;
      });
  return found == calibration.end() ? MeasuredCosts{backend, device, {}, built_in} : *found;
}

std::string provenance(const MeasuredCosts& costs) {
  return costs.date.empty()
             ? "solver costs: built in (eckart doctor --calibrate measures them here)"
             : "solver costs: measured here on " + costs.date;
}

std::string time_text(double seconds) {
  const char* unit = "us";
  double number = 1e6 * seconds;
  for (const char* next : {"ms", "s"}) {
    if (number < 999.5) break;
    unit = next, number /= 1000;
  }
  char text[32];
  std::snprintf(text, sizeof text, "%.*f %s", number < 9.95 ? 1 : 0, number, unit);
  return text;
}

}  // namespace eckart
