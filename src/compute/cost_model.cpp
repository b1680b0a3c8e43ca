#include "compute/cost_model.hpp"

#include <algorithm>
#include <stdexcept>

namespace eckart::compute {
namespace {

// The number of iterations that the model counts for subspace iteration in float64. About five are
// run. Fewer are counted, because flop_s is fitted to gram: most flops of gram are those of the
// eigensolver, and each takes more than three times as long as a flop of a matrix product.
constexpr double kFloat64Iterations = 1.5;

}  // namespace

std::array<double, kCostTerms.size()> operation_counts(SolverKind solver,
                                                       const BatchWorkload& batch) {
  const double m = batch.shape.rows, n = batch.shape.cols, k = batch.rank, l = batch.columns;
  const double planes = batch.planes;
  switch (solver) {
    case SolverKind::subspace:
      if (batch.is_float64) {
        return {1, planes * m * n,
                planes * kFloat64Iterations * (4 * m * n * l + 3 * (m + n) * l * l), planes * l * l,
                planes * l * l * l};
      }
      return {1, planes * m * n, planes * 2 * (m * n * l + (m + n) * l * l), planes * l * l,
              planes * l * l * l};
    case SolverKind::gram: {
      const double b = std::min(batch.rank, max_bisection_vectors(batch.shape.cols));
      return {1, planes * m * n,
              planes * (m * n * n + 4 * m * n * k + 2 * n * n * b + 4 * n * b * b), planes * n * b,
              planes * n * n * n};
    }
    default:
      throw std::logic_error("no cost model for solver " + to_string(solver));
  }
}

double estimate_seconds(SolverKind solver, const BatchWorkload& batch, const SolverCosts& costs) {
  const bool is_float64 = solver == SolverKind::gram || batch.is_float64;
  const CostCoefficients& coefficients = is_float64 ? costs.gram : costs.subspace;
  const auto counts = operation_counts(solver, batch);
  double sum = 0;
  for (std::size_t i = 0; i < counts.size(); ++i)
    sum += coefficients.*kCostTerms[i].coefficient * counts[i];
  return sum;
}

MeasuredCosts select_costs(const Calibration& calibration, CostBackend backend,
                           const std::string& device, const SolverCosts& built_in) {
  const auto found =
      std::find_if(calibration.begin(), calibration.end(), [&](const MeasuredCosts& measured) {
        return measured.backend == backend && measured.device == device;
      });
  return found == calibration.end() ? MeasuredCosts{backend, device, {}, built_in} : *found;
}

std::string describe_source(const MeasuredCosts& costs) {
  return costs.date.empty() ? "solver costs: built-in defaults; run eckart doctor --calibrate to "
                              "measure this machine"
                            : "solver costs: measured on this machine on " + costs.date;
}

}  // namespace eckart::compute
