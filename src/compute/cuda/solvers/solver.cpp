#include "compute/cuda/solvers/solver.hpp"

#include <algorithm>
#include <stdexcept>

#include "compute/cuda/solvers/float64_solver.hpp"

namespace eckart::cuda {
namespace {

// Most images are settled by the first, most others by the second; float64 settles all.
constexpr int kFewRounds = 4;
constexpr int kManyRounds = 12;

}  // namespace

int Problem::rank() const { return *std::max_element(ranks.begin(), ranks.end()); }

std::vector<std::unique_ptr<BatchSolver>> make_solvers(SolverKind kind) {
  std::vector<std::unique_ptr<BatchSolver>> solvers;
  switch (kind) {
    case SolverKind::subspace:
      solvers.push_back(make_subspace_solver(kFewRounds));
      solvers.push_back(make_subspace_solver(kManyRounds));
      [[fallthrough]];
    case SolverKind::gram:
      solvers.push_back(make_float64_solver(make_gram()));
      break;
    case SolverKind::gesvd:
      solvers.push_back(make_float64_solver(make_gesvd()));
      break;
    case SolverKind::gesvdj:
      solvers.push_back(make_float64_solver(make_gesvdj()));
      break;
    case SolverKind::automatic:
      throw std::logic_error("no solver was chosen");
  }
  return solvers;
}

}  // namespace eckart::cuda
