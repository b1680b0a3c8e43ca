#include "compute/cuda/solvers/float64_solver.hpp"

#include <utility>

#include "compute/cuda/kernels/unpack.hpp"
#include "compute/cuda/layout/subspace_sizes.hpp"
#include "compute/cuda/profiler_range.hpp"
#include "compute/cuda/solvers/batched.hpp"

namespace eckart::cuda {
namespace {

class Float64Solver : public BatchSolver {
 public:
  explicit Float64Solver(std::unique_ptr<RightVectors> right_vectors)
      : right_vectors_(std::move(right_vectors)) {}

  bool one_by_one() const override { return right_vectors_->one_by_one(); }

  Spectrum spectrum(const Problem& problem) const override {
    const ValueOrder order = right_vectors_->order();
    return {
        order, problem.n, 0,
        order == ValueOrder::ascending_squares ? Precision::squared_float64 : Precision::float64};
  }

  std::size_t workspace_bytes(const Handles& handles, const Problem& problem) override {
    Carver carver(nullptr);
    Float64Parts::carve(carver, problem);
    return carver.used() + right_vectors_->workspace_bytes(handles, problem);
  }

  void solve(const Handles& handles, const Problem& p, const DeviceBatch& batch) override {
    Carver carver(batch.workspace);
    const Float64Parts parts = Float64Parts::carve(carver, p);
    const ProfilerRange phase("unpack");
    unpack(batch.pixels, batch.planes, p.count, p.m, p.n, parts.a_t_nm, handles.stream);
    phase.next("factor");
    right_vectors_->find(handles, p,
                         {parts.a_t_nm, parts.v_nn, batch.values, batch.info,
                          carver.take<std::byte>(0), batch.workspace_bytes - carver.used()});
    const Factors factors = project(handles, p, parts);
    phase.next("reconstruct");
    const std::size_t tiles = std::size_t(reconstruct_tiles(p.m, p.n)) * std::size_t(p.count);
    for (std::size_t r = 0; r < p.ranks.size(); ++r) {
      reconstruct(batch.pixels, batch.planes, p.count, p.m, p.n, p.ranks[r], factors,
                  batch.outputs + r * batch.output_step, batch.errors + r * tiles, handles.stream);
    }
  }

 private:
  /// P = A V for the leading columns of V.
  Factors project(const Handles& handles, const Problem& p, const Float64Parts& parts) const {
    const int m = p.m, n = p.n, rank = p.rank();
    const bool ascending = right_vectors_->order() == ValueOrder::ascending_squares;
    const double* v = parts.v_nn + (ascending ? std::int64_t(n - rank) * n : 0);
    const std::int64_t v_plane = std::int64_t(n) * n;
    multiply(handles, m, rank, n, {CUBLAS_OP_T, parts.a_t_nm, n, std::int64_t(n) * m},
             {CUBLAS_OP_N, v, n, v_plane}, parts.p_mk, p.count);
    return make_factors(parts.p_mk, m, parts.v_nn, n, n, rank, ascending);
  }

  const std::unique_ptr<RightVectors> right_vectors_;
};

}  // namespace

std::unique_ptr<BatchSolver> make_float64_solver(std::unique_ptr<RightVectors> right_vectors) {
  return std::make_unique<Float64Solver>(std::move(right_vectors));
}

}  // namespace eckart::cuda
