#include "compute/cost_fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "compute/cost_model.hpp"

namespace eckart::compute {
namespace {

constexpr std::size_t kTermCount = kCostTerms.size();
using Row = std::array<double, kTermCount>;

/// The normal equations G x = h of the least squares problem row' x = 1 for all rows.
struct NormalEquations {
  std::array<Row, kTermCount> g{};
  Row h{};
};

NormalEquations normal_equations(const std::vector<Row>& rows) {
  NormalEquations equations;
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < kTermCount; ++i) {
      equations.h[i] += row[i];
      for (std::size_t j = 0; j < kTermCount; ++j) equations.g[i][j] += row[i] * row[j];
    }
  }
  return equations;
}

/// Solves for the terms whose bits are set, by Cholesky; the other terms are 0. Returns nullopt if
/// the rows do not determine these terms, or if a solution is negative.
std::optional<Row> solve(NormalEquations e, unsigned terms) {
  std::vector<std::size_t> active;
  for (std::size_t i = 0; i < kTermCount; ++i) {
    if ((terms >> i & 1U) != 0) active.push_back(i);
  }
  for (std::size_t a = 0; a < active.size(); ++a) {
    const std::size_t i = active[a];
    for (std::size_t b = 0; b <= a; ++b) {
      const std::size_t j = active[b];
      for (std::size_t c = 0; c < b; ++c) e.g[i][j] -= e.g[i][active[c]] * e.g[j][active[c]];
      e.g[i][j] = a == b ? std::sqrt(e.g[i][i]) : e.g[i][j] / e.g[j][j];
    }
    for (std::size_t b = 0; b < a; ++b) e.h[i] -= e.g[i][active[b]] * e.h[active[b]];
    e.h[i] /= e.g[i][i];
  }
  Row x{};
  for (std::size_t a = active.size(); a-- > 0;) {
    const std::size_t i = active[a];
    x[i] = e.h[i];
    for (std::size_t b = a + 1; b < active.size(); ++b) x[i] -= e.g[active[b]][i] * x[active[b]];
    x[i] /= e.g[i][i];
    if (!(x[i] >= 0)) return std::nullopt;  // also NaN, after a pivot that was not positive
  }
  return x;
}

double squared_error(const std::vector<Row>& rows, const Row& x) {
  double sum = 0;
  for (const Row& row : rows) {
    double error = -1;
    for (std::size_t i = 0; i < kTermCount; ++i) error += row[i] * x[i];
    sum += error * error;
  }
  return sum;
}

/// Non-negative least squares. With five terms all subsets of nonzero terms are tried.
CostCoefficients fit(std::span<const Timing> timings, SolverKind solver) {
  std::vector<Row> rows;
  for (const Timing& timing : timings) {
    if (timing.solver != solver || !is_used_in_fit(timing)) continue;
    Row row = operation_counts(solver, timing.batch);
    for (double& count : row) count /= timing.seconds;
    rows.push_back(row);
  }
  if (rows.empty()) throw std::invalid_argument("no timing for solver " + to_string(solver));
  Row scales{};  // scale columns to length 1: the units differ by 20 orders of magnitude
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < kTermCount; ++i) scales[i] = std::hypot(scales[i], row[i]);
  }
  for (Row& row : rows) {
    for (std::size_t i = 0; i < kTermCount; ++i) row[i] /= scales[i];
  }
  const NormalEquations equations = normal_equations(rows);
  Row best{};
  double min_error = std::numeric_limits<double>::infinity();
  for (unsigned terms = 1; terms < 1U << kTermCount; ++terms) {
    const auto x = solve(equations, terms);
    const double error = x ? squared_error(rows, *x) : min_error;
    if (error < min_error) min_error = error, best = *x;
  }
  CostCoefficients costs;
  for (std::size_t i = 0; i < kTermCount; ++i)
    costs.*kCostTerms[i].coefficient = best[i] / scales[i];
  return costs;
}

}  // namespace

bool is_used_in_fit(const Timing& timing) {
  return timing.solver == SolverKind::gram || !timing.batch.is_float64;
}

SolverCosts fit_costs(std::span<const Timing> timings) {
  return {fit(timings, SolverKind::subspace), fit(timings, SolverKind::gram)};
}

}  // namespace eckart::compute
