#include "compute/solver_choice.hpp"

#include <algorithm>
#include <cmath>

#include "compute/cost_model.hpp"
#include "compute/make_room.hpp"
#include "core/quality.hpp"

namespace eckart {
namespace {

/// The share of planes that subspace is expected to leave to gram, since their error is next to
/// nothing: none where few vectors are wanted, more where many are. Float64 leaves next to none.
double share_left(const BatchSize& batch) {
  if (batch.float64) return 0;
  return std::pow(double(batch.columns) / batch.shape.cols, 4);
}

SolverChoice by_costs(const BatchSize& batch, const SolverCosts& costs) {
  const double subspace = seconds(SolverKind::subspace, batch, costs) / batch.planes;
  const double gram = seconds(SolverKind::gram, batch, costs) / batch.planes;
  const std::string columns = std::to_string(batch.columns) + " of " +
                              std::to_string(batch.shape.cols) + " columns" +
                              (batch.float64 ? " in float64" : "");
  const std::string about = ": about ", plane = " a plane, ";
  if (subspace + share_left(batch) * gram < gram) {
    return {batch, SolverKind::subspace,
            columns + about + time_text(subspace) + plane + "gram " + time_text(gram)};
  }
  std::string reason =
      "about " + time_text(gram) + plane + "subspace with " + columns + " " + time_text(subspace);
  if (subspace < gram) reason += ", and some perhaps left to gram";
  return {batch, SolverKind::gram, reason};
}

}  // namespace

SolverChoice choose_solver(SolverKind requested, const BatchSize& batch, int most_gram_columns,
                           const SolverCosts& costs) {
  using enum SolverKind;
  const bool iterates = requested == automatic || requested == subspace;
  if (!iterates) return {batch, requested, "asked for"};
  if (batch.shape.cols > most_gram_columns) {  // subspace leaves some planes to it
    return {batch, gesvd, "gram takes " + std::to_string(most_gram_columns) + " columns at most"};
  }
  // Of nearly all columns gram takes less time, and the certificate knows less of what is outside.
  if (4 * batch.columns > 3 * batch.shape.cols) {
    return {batch, gram,
            "rank " + std::to_string(batch.rank) + " would take subspace " +
                std::to_string(batch.columns) + " columns, and there are " +
                std::to_string(batch.shape.cols)};
  }
  return requested == subspace ? SolverChoice{batch, subspace, "asked for"}
                               : by_costs(batch, costs);
}

SolverKind SolverChooser::choose(const BatchSize& batch, int most_gram_columns) {
  const std::lock_guard lock(mutex_);
  const std::pair key(batch.shape, batch.rank);
  const auto known = choices_.find(key);
  if (known != choices_.end()) return known->second.solver;
  const SolverChoice choice = choose_solver(requested_, batch, most_gram_columns, costs_);
  choices_.emplace(key, choice);
  if (choices_.size() > kMostKnown) choices_.erase(choices_.begin());  // the largest are told
  return choice.solver;
}

std::vector<SolverChoice> SolverChooser::choices() const {
  constexpr std::size_t kMost = 100;
  const std::lock_guard lock(mutex_);
  std::vector<SolverChoice> all;
  for (auto next = choices_.rbegin(); next != choices_.rend() && all.size() < kMost; ++next) {
    all.push_back(next->second);
  }
  return all;
}

int subspace_columns(int rank, int most_narrow) {
  constexpr int kFewestMore = 28;  // than the rank
  constexpr int kGranule = 16;     // what the matrix products like
  const int wanted = rank + std::max(kFewestMore, rank / 4);
  if (wanted > most_narrow && rank + kFewestMore <= most_narrow) return most_narrow;
  return (wanted + kGranule - 1) / kGranule * kGranule;
}

}  // namespace eckart
