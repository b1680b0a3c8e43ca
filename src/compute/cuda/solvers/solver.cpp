#include "compute/cuda/solvers/solver.hpp"

#include <stdexcept>

namespace eckart::cuda {

std::unique_ptr<BatchSolver> make_solver(SolverKind kind) {
  switch (kind) {
    case SolverKind::gram: return make_gram_solver();
    case SolverKind::subspace: return make_subspace_solver();
    case SolverKind::gesvd: return make_gesvd_solver();
    case SolverKind::gesvdj: return make_gesvdj_solver();
    case SolverKind::automatic: break;
  }
  throw std::logic_error("no solver was chosen");
}

}  // namespace eckart::cuda
