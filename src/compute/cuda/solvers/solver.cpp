#include "compute/cuda/solvers/solver.hpp"

#include <stdexcept>

#include "compute/cuda/solvers/full_svd_solver.hpp"

namespace eckart::compute::cuda {

const int* choose_ranks(const Handles& handles, const Problem& problem, const DeviceBatch& batch,
                        const DeviceSpectra& spectra) {
  if (!batch.rules) return nullptr;
  choose_batch_ranks(batch.pixels, batch.planes, problem.count, spectra, batch.rules,
                     int(problem.ranks.size()), batch.squared_norms, batch.ranks, handles.stream);
  return batch.ranks;
}

std::unique_ptr<BatchSolver> make_solver(SolverStep step) {
  switch (step) {
    case SolverStep::float16_subspace:
      return make_subspace_solver();
    case SolverStep::float64_subspace:
      return make_float64_subspace_solver();
    case SolverStep::gram:
      return make_full_svd_solver(make_gram());
    case SolverStep::gesvd:
      return make_full_svd_solver(make_gesvd());
    case SolverStep::gesvdj:
      return make_full_svd_solver(make_gesvdj());
  }
  throw std::logic_error("unknown SolverStep");
}

}  // namespace eckart::compute::cuda
