#include "compute/cpu/time_model.hpp"

#include <climits>
#include <limits>

#include "compute/cost_model.hpp"
#include "compute/cpu/built_in_costs.hpp"
#include "compute/cpu/cpu_name.hpp"
#include "compute/cpu/lane_count.hpp"
#include "compute/cpu/subspace_iteration.hpp"
#include "compute/solver_choice.hpp"

namespace eckart::compute::cpu {

TimeModel::TimeModel(const BackendOptions& options)
    : solver_(options.solver),
      certificate_(options.certificate),
      lanes_(choose_lane_count(options)),
      costs_(
          select_costs(options.calibration, CostBackend::cpu, cpu_name(), kBuiltInCpuCosts).costs) {
}

double TimeModel::plane_seconds(PaddedShape shape, int rank, bool is_complete) const {
  const bool is_modeled = is_iterative(solver_) || solver_ == SolverKind::gram;
  if (!is_modeled) return std::numeric_limits<double>::infinity();
  const BatchWorkload plane{shape, rank, subspace_columns(rank), 1};
  const SolverKind solver =
      is_complete ? SolverKind::gram : choose_solver(solver_, plane, INT_MAX, costs_).solver;
  const double seconds = estimate_seconds(solver, plane, costs_);
  return certificate_ == Certificate::bound ? 2 * seconds
                                            : seconds;  // docs/explanation/numerics.md
}

}  // namespace eckart::compute::cpu
