#include <algorithm>

#include "compute/cuda/kernels/ritz_vectors.hpp"
#include "compute/cuda/kernels/unpack.hpp"
#include "compute/cuda/profiler_range.hpp"
#include "compute/cuda/solvers/batched_linear_algebra.hpp"
#include "compute/cuda/solvers/block_cholesky_qr.hpp"
#include "compute/cuda/solvers/float64_reconstruction.hpp"
#include "compute/cuda/solvers/random_start.hpp"

namespace eckart::compute::cuda {
namespace {

/// Block subspace iteration in float64. It computes batches with more columns than the float16
/// kernels support, and recomputes two kinds of planes: those with errors at rounding level, which
/// float32 cannot certify, and those that need more iterations.
class Float64SubspaceSolver : public BatchSolver {
 public:
  SpectrumFormat spectrum(const Problem& p) const override {
    return {ValueOrder::ritz, p.columns, p.rank(), Precision::float64_gram};
  }

  std::size_t workspace_bytes(const Handles& handles, const Problem& p) override {
    const int l = p.columns;
    start_nl_.reserve(handles.stream, p.n, l);
    WorkspaceAllocator allocator(nullptr);
    Float64SubspaceBuffers::allocate(allocator, p);
    return allocator.used_bytes() + eigen_.workspace_bytes(handles, l, p.count);
  }

  void solve(const Handles& handles, const Problem& p, const DeviceBatch& batch) override {
    const int m = p.m, n = p.n, l = p.columns, k = p.rank(), count = p.count;
    WorkspaceAllocator allocator(batch.workspace);
    const auto buffers = Float64SubspaceBuffers::allocate(allocator, p);
    const BlockCholeskyQr qr{buffers.qr};
    const ProfilerRange phase("unpack");
    unpack(batch.pixels, batch.planes, count, m, n, buffers.a_t_nm, handles.stream);
    const Operand a{CUBLAS_OP_T, buffers.a_t_nm, n, std::int64_t(n) * m};
    const Operand a_t{CUBLAS_OP_N, buffers.a_t_nm, n, std::int64_t(n) * m};

    const Operand q_nl = dense_block(buffers.q_nl, n, l).as(CUBLAS_OP_N);
    const Operand z_ml = dense_block(buffers.z_ml, m, l).as(CUBLAS_OP_N);
    phase.next("iterate");
    for (int iteration = 0; iteration < p.iterations; ++iteration) {
      const Operand q = iteration == 0 ? Operand{CUBLAS_OP_N, start_nl_.data(), n, 0} : q_nl;
      multiply(handles, m, l, n, a, q, buffers.product, count);
      qr.orthonormalize(handles, buffers.product, m, l, buffers.z_ml, count);
      multiply(handles, n, l, m, a_t, z_ml, buffers.product, count);
      qr.orthonormalize(handles, buffers.product, n, l, buffers.q_nl, count);
    }

    phase.next("factor");
    // B = A Q, B'B = W Theta W', U = B W_k Theta_k^-1/2, V = A'U
    multiply(handles, m, l, n, a, q_nl, buffers.product, count);
    const Block b_ml = dense_block(buffers.product, m, l);
    multiply(handles, l, l, m, b_ml.as(CUBLAS_OP_T), b_ml.as(CUBLAS_OP_N), buffers.s_ll, count);
    eigen_.solve(handles, buffers.s_ll, l, count, buffers.values_l, batch.info,
                 allocator.allocate<std::byte>(0), batch.workspace_bytes - allocator.used_bytes());
    const int stride = spectrum(p).values();
    whiten(buffers.s_ll, buffers.values_l, l, k, batch.values, stride, count, handles.stream);
    const Block leading = dense_block(buffers.s_ll, l, l).sub_block(0, l - k);
    multiply(handles, m, k, l, b_ml.as(CUBLAS_OP_N), leading.as(CUBLAS_OP_N), buffers.u_mk, count);
    multiply(handles, n, k, m, a_t, dense_block(buffers.u_mk, m, k).as(CUBLAS_OP_N), buffers.v_nk,
             count);
    squared_column_norms(buffers.v_nk, n, k, batch.values + l, stride, count, handles.stream);
    double* const leading_v = buffers.v_nk + std::int64_t(k - 1) * n;  // columns are ascending
    const Factors factors = make_factors(buffers.u_mk, m, buffers.v_nk, n, k, k, true);
    normalize_triplets(batch.planes, count, factors, batch.triplets, handles.stream);
    phase.next("reconstruct");
    const int* ranks = choose_ranks(handles, p, batch,
                                    {.values = batch.values,
                                     .plane_stride = stride,
                                     .first = l,
                                     .step = 1,
                                     .count = k,
                                     .are_roots = false});
    reconstruct_at_ranks(handles, p, batch, ranks, factors, leading_v,
                         buffers.a_t_nm);  // no longer needed
  }

 private:
  BatchedSymmetricEigen eigen_;
  RandomStart<double> start_nl_;
};

}  // namespace

std::unique_ptr<BatchSolver> make_float64_subspace_solver() {
  return std::make_unique<Float64SubspaceSolver>();
}

}  // namespace eckart::compute::cuda
