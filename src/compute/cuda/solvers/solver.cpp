#include "compute/cuda/solvers/solver.hpp"

#include <stdexcept>

namespace eckart::cuda {
namespace {

// Most images are settled by the first, most others by the second; the third settles all.
constexpr int kFewRounds = 12;
constexpr int kManyRounds = 40;

}  // namespace

std::vector<std::unique_ptr<BatchSolver>> make_solvers(SolverKind kind) {
  std::vector<std::unique_ptr<BatchSolver>> solvers;
  switch (kind) {
    case SolverKind::subspace:
      solvers.push_back(make_subspace_solver(kFewRounds));
      solvers.push_back(make_subspace_solver(kManyRounds));
      [[fallthrough]];
    case SolverKind::gram:
      solvers.push_back(make_gram_solver());
      break;
    case SolverKind::gesvd:
      solvers.push_back(make_gesvd_solver());
      break;
    case SolverKind::gesvdj:
      solvers.push_back(make_gesvdj_solver());
      break;
    case SolverKind::automatic:
      throw std::logic_error("no solver was chosen");
  }
  return solvers;
}

}  // namespace eckart::cuda
