#include "compute/solver_choice.hpp"

#include <algorithm>
#include <cmath>

#include "compute/cost_model.hpp"
#include "compute/evict_if_full.hpp"
#include "core/quality.hpp"
#include "text/format_duration.hpp"

namespace eckart::compute {
namespace {

/// The expected share of planes that subspace iteration leaves to gram because their error is at
/// rounding level. It is 0 for few columns and grows with them. In float64 almost none are left.
double gram_share(const BatchWorkload& batch) {
  if (batch.is_float64) return 0;
  return std::pow(double(batch.columns) / batch.shape.cols, 4);
}

SolverChoice choose_by_cost(const BatchWorkload& batch, const SolverCosts& costs) {
  const double subspace = estimate_seconds(SolverKind::subspace, batch, costs) / batch.planes;
  const double gram = estimate_seconds(SolverKind::gram, batch, costs) / batch.planes;
  const std::string columns = std::to_string(batch.columns) + " of " +
                              std::to_string(batch.shape.cols) + " columns" +
                              (batch.is_float64 ? " in float64" : "");
  const std::string about = ": about ", plane = " per plane, ";
  if (subspace + gram_share(batch) * gram < gram) {
    return {batch, SolverKind::subspace,
            columns + about + text::format_duration(subspace) + plane + "gram " +
                text::format_duration(gram)};
  }
  std::string explanation = "about " + text::format_duration(gram) + plane + "subspace with " +
                            columns + " " + text::format_duration(subspace);
  if (subspace < gram) explanation += "; gram may recompute some planes";
  return {batch, SolverKind::gram, explanation};
}

}  // namespace

SolverChoice choose_solver(SolverKind requested, const BatchWorkload& batch, int max_gram_columns,
                           const SolverCosts& costs) {
  using enum SolverKind;
  if (!is_iterative(requested)) return {batch, requested, "requested"};
  if (batch.shape.cols > max_gram_columns) {  // gram must be able to recompute uncertified planes
    return {batch, gesvd, "gram supports at most " + std::to_string(max_gram_columns) + " columns"};
  }
  // With nearly all columns gram is faster, and the certificate has little information about what
  // is outside the subspace.
  if (4 * batch.columns > 3 * batch.shape.cols) {
    return {batch, gram,
            "rank " + std::to_string(batch.rank) + " needs a subspace of " +
                std::to_string(batch.columns) + " columns, more than three quarters of " +
                std::to_string(batch.shape.cols)};
  }
  return requested == subspace ? SolverChoice{batch, subspace, "requested"}
                               : choose_by_cost(batch, costs);
}

SolverKind SolverChooser::choose(const BatchWorkload& batch, int max_gram_columns) {
  const std::lock_guard lock(mutex_);
  const auto cached = choices_.find(batch);
  if (cached != choices_.end()) return cached->second.solver;
  const SolverChoice choice = choose_solver(requested_, batch, max_gram_columns, costs_);
  choices_.emplace(batch, choice);
  // Keep the largest: they are reported.
  if (choices_.size() > kMaxCacheEntries) choices_.erase(choices_.begin());
  return choice.solver;
}

SolverKind SolverChooser::estimate(const BatchWorkload& batch, int max_gram_columns) const {
  return choose_solver(requested_, batch, max_gram_columns, costs_).solver;
}

void SolverChooser::record(const BatchWorkload& batch, SolverKind used) {
  const std::lock_guard lock(mutex_);
  if (records_.contains(batch)) return;
  SolverChoice choice = choose_solver(requested_, batch, INT_MAX, costs_);
  if (choice.solver != used) choice = {batch, used, "its singular values gave the rank"};
  records_.emplace(batch, choice);
  if (records_.size() > kMaxCacheEntries) records_.erase(records_.begin());
}

std::vector<SolverChoice> SolverChooser::solver_choices() const {
  constexpr std::size_t kMaxReported = 100;
  const std::lock_guard lock(mutex_);
  std::map<BatchWorkload, SolverChoice> made = choices_;
  made.insert(records_.begin(), records_.end());
  std::vector<SolverChoice> all;
  for (auto next = made.rbegin(); next != made.rend() && all.size() < kMaxReported; ++next) {
    all.push_back(next->second);
  }
  return all;
}

}  // namespace eckart::compute
