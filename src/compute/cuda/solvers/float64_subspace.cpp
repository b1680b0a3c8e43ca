#include <algorithm>

#include "compute/cuda/kernels/ritz_vectors.hpp"
#include "compute/cuda/kernels/unpack.hpp"
#include "compute/cuda/profiler_range.hpp"
#include "compute/cuda/solvers/batched.hpp"
#include "compute/cuda/solvers/block_cholesky_qr.hpp"
#include "compute/cuda/solvers/random_start.hpp"

namespace eckart::cuda {
namespace {

/// SubspaceSolver's iteration, all of it in float64: for more columns than its kernels take, and
/// for the few images that it leaves: such whose error is next to nothing, so that float32 proves
/// nothing, and such that want more rounds.
class Float64SubspaceSolver : public BatchSolver {
 public:
  Spectrum spectrum(const Problem& p) const override {
    return {ValueOrder::ritz, p.columns, p.rank(), Precision::squared_float64};
  }

  std::size_t workspace_bytes(const Handles& handles, const Problem& p) override {
    const int l = p.columns;
    start_nl_.reserve(handles.stream, p.n, l);
    Carver carver(nullptr);
    Float64SubspaceParts::carve(carver, p);
    return carver.used() + eigen_.workspace_bytes(handles, l, p.count);
  }

  void solve(const Handles& handles, const Problem& p, const DeviceBatch& batch) override {
    const int m = p.m, n = p.n, l = p.columns, k = p.rank(), count = p.count;
    Carver carver(batch.workspace);
    const auto parts = Float64SubspaceParts::carve(carver, p);
    const BlockCholeskyQr qr{parts.qr};
    const ProfilerRange phase("unpack");
    unpack(batch.pixels, batch.planes, count, m, n, parts.a_t_nm, handles.stream);
    const Operand a{CUBLAS_OP_T, parts.a_t_nm, n, std::int64_t(n) * m};
    const Operand a_t{CUBLAS_OP_N, parts.a_t_nm, n, std::int64_t(n) * m};

    const Operand q_nl = whole(parts.q_nl, n, l).as(CUBLAS_OP_N);
    const Operand z_ml = whole(parts.z_ml, m, l).as(CUBLAS_OP_N);
    phase.next("iterate");
    for (int round = 0; round < p.rounds; ++round) {
      const Operand q = round == 0 ? Operand{CUBLAS_OP_N, start_nl_.data(), n, 0} : q_nl;
      multiply(handles, m, l, n, a, q, parts.product, count);
      qr.solve(handles, parts.product, m, l, parts.z_ml, count);
      multiply(handles, n, l, m, a_t, z_ml, parts.product, count);
      qr.solve(handles, parts.product, n, l, parts.q_nl, count);
    }

    phase.next("factor");
    // B = A Q, B'B = W Theta W', U = B W_k Theta_k^-1/2, V = A'U
    multiply(handles, m, l, n, a, q_nl, parts.product, count);
    const Block b_ml = whole(parts.product, m, l);
    multiply(handles, l, l, m, b_ml.as(CUBLAS_OP_T), b_ml.as(CUBLAS_OP_N), parts.s_ll, count);
    eigen_.solve(handles, parts.s_ll, l, count, parts.values_l, batch.info,
                 carver.take<std::byte>(0), batch.workspace_bytes - carver.used());
    const int stride = spectrum(p).values();
    whiten(parts.s_ll, parts.values_l, l, k, batch.values, stride, count, handles.stream);
    const Block leading = whole(parts.s_ll, l, l).from(0, l - k);
    multiply(handles, m, k, l, b_ml.as(CUBLAS_OP_N), leading.as(CUBLAS_OP_N), parts.u_mk, count);
    multiply(handles, n, k, m, a_t, whole(parts.u_mk, m, k).as(CUBLAS_OP_N), parts.v_nk, count);
    squared_lengths(parts.v_nk, n, k, batch.values + l, stride, count, handles.stream);
    const Factors factors = make_factors(parts.u_mk, m, parts.v_nk, n, k, k, true);
    phase.next("reconstruct");
    const std::size_t tiles = std::size_t(reconstruct_tiles(m, n)) * std::size_t(count);
    for (std::size_t r = 0; r < p.ranks.size(); ++r) {
      reconstruct(batch.pixels, batch.planes, count, m, n, p.ranks[r], factors,
                  batch.outputs + r * batch.output_step, batch.errors + r * tiles, handles.stream);
    }
  }

 private:
  BatchedSymmetricEigen eigen_;
  RandomStart<double> start_nl_;
};

}  // namespace

std::unique_ptr<BatchSolver> make_float64_subspace_solver() {
  return std::make_unique<Float64SubspaceSolver>();
}

}  // namespace eckart::cuda
