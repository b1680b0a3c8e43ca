#include "compute/cuda/solvers/full_svd_solver.hpp"

#include <utility>

#include "compute/cuda/kernels/unpack.hpp"
#include "compute/cuda/layout/subspace_sizes.hpp"
#include "compute/cuda/profiler_range.hpp"
#include "compute/cuda/solvers/batched_linear_algebra.hpp"
#include "compute/cuda/solvers/float64_reconstruction.hpp"

namespace eckart::compute::cuda {
namespace {

class FullSvdSolver : public BatchSolver {
 public:
  explicit FullSvdSolver(std::unique_ptr<RightSingularVectorSolver> vector_solver)
      : vector_solver_(std::move(vector_solver)) {}

  SpectrumFormat spectrum(const Problem& problem) const override {
    const ValueOrder order = vector_solver_->order();
    return {order, problem.n, 0,
            order == ValueOrder::ascending_squares ? Precision::float64_gram : Precision::float64};
  }

  std::size_t workspace_bytes(const Handles& handles, const Problem& problem) override {
    WorkspaceAllocator allocator(nullptr);
    FullSvdBuffers::allocate(allocator, problem);
    return allocator.used_bytes() + vector_solver_->workspace_bytes(handles, problem);
  }

  void solve(const Handles& handles, const Problem& p, const DeviceBatch& batch) override {
    WorkspaceAllocator allocator(batch.workspace);
    const FullSvdBuffers buffers = FullSvdBuffers::allocate(allocator, p);
    const ProfilerRange phase("unpack");
    unpack(batch.pixels, batch.planes, p.count, p.m, p.n, buffers.a_t_nm, handles.stream);
    phase.next("factor");
    vector_solver_->solve(
        handles, p,
        {buffers.a_t_nm, buffers.v_nn, batch.values, batch.info, allocator.allocate<std::byte>(0),
         batch.workspace_bytes - allocator.used_bytes()});
    const Factors factors = project(handles, p, buffers);
    normalize_triplets(batch.planes, p.count, factors, batch.triplets, handles.stream);
    phase.next("reconstruct");
    const bool is_ascending = vector_solver_->order() == ValueOrder::ascending_squares;
    const int* ranks = choose_ranks(handles, p, batch,
                                    {.values = batch.values,
                                     .plane_stride = p.n,
                                     .first = is_ascending ? p.n - 1 : 0,
                                     .step = is_ascending ? -1 : 1,
                                     .count = p.rank(),
                                     .are_roots = !is_ascending});
    double* const leading_v = buffers.v_nn + (is_ascending ? std::int64_t(p.n - 1) * p.n : 0);
    reconstruct_at_ranks(handles, p, batch, ranks, factors, leading_v,
                         buffers.a_t_nm);  // no longer needed
  }

 private:
  /// P = A V for the leading columns of V.
  Factors project(const Handles& handles, const Problem& p, const FullSvdBuffers& buffers) const {
    const int m = p.m, n = p.n, rank = p.rank();
    const bool is_ascending = vector_solver_->order() == ValueOrder::ascending_squares;
    const double* v = buffers.v_nn + (is_ascending ? std::int64_t(n - rank) * n : 0);
    const std::int64_t v_plane = std::int64_t(n) * n;
    multiply(handles, m, rank, n, {CUBLAS_OP_T, buffers.a_t_nm, n, std::int64_t(n) * m},
             {CUBLAS_OP_N, v, n, v_plane}, buffers.p_mk, p.count);
    return make_factors(buffers.p_mk, m, buffers.v_nn, n, n, rank, is_ascending);
  }

  const std::unique_ptr<RightSingularVectorSolver> vector_solver_;
};

}  // namespace

std::unique_ptr<BatchSolver> make_full_svd_solver(
    std::unique_ptr<RightSingularVectorSolver> vector_solver) {
  return std::make_unique<FullSvdSolver>(std::move(vector_solver));
}

}  // namespace eckart::compute::cuda
