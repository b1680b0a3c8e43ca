#include "compute/cuda/solvers/solver.hpp"

#include <stdexcept>

#include "compute/cuda/solvers/full_svd_solver.hpp"

namespace eckart::cuda {

std::vector<std::unique_ptr<BatchSolver>> make_solvers(SolverKind kind, bool is_single_solver) {
  std::vector<std::unique_ptr<BatchSolver>> solvers;
  switch (kind) {
    case SolverKind::subspace:
      // Most images are settled by the first, or by the second where the first does not take so
      // many columns; those whose error is next to nothing, or that want more rounds, by the
      // second; those for which l columns are too few by the third. A'A is too coarse for what is
      // left, nearly all of which is of exactly low rank.
      solvers.push_back(make_subspace_solver());
      solvers.push_back(make_float64_subspace_solver());
      solvers.push_back(make_full_svd_solver(make_gram()));
      solvers.push_back(make_full_svd_solver(make_gesvd()));
      break;
    case SolverKind::gram:
      solvers.push_back(make_full_svd_solver(make_gram()));
      if (!is_single_solver) solvers.push_back(make_full_svd_solver(make_gesvd()));
      break;
    case SolverKind::gesvd:
      solvers.push_back(make_full_svd_solver(make_gesvd()));
      break;
    case SolverKind::gesvdj:
      solvers.push_back(make_full_svd_solver(make_gesvdj()));
      break;
    case SolverKind::automatic:
      throw std::logic_error("SolverKind::automatic must be resolved before make_solvers()");
  }
  return solvers;
}

}  // namespace eckart::cuda
