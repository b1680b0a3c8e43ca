#include "compute/cuda/solvers/float64_reconstruction.hpp"

#include "compute/cuda/kernels/zero_extra_columns.hpp"
#include "compute/cuda/solvers/batched_linear_algebra.hpp"

namespace eckart::compute::cuda {

void reconstruct_at_rank(const Handles& handles, const ReconstructedBatch& batch, int rank,
                         const Factors& factors, double* v_nk, double* product_mn) {
  const int m = batch.m, n = batch.n, count = batch.count;
  if (rank <= kMaxFusedRank) {
    reconstruct(batch.pixels, batch.planes, count, m, n, rank, nullptr, factors, batch.out,
                batch.errors, handles.stream);
    return;
  }
  zero_extra_columns(batch.planes, count, n, rank, v_nk, factors.v_plane, factors.v_column,
                     handles.stream);
  // The product is row-major: A_k' = V P'. The first of the leading columns is the last one in
  // memory if they are ascending.
  const std::int64_t first = factors.p_column < 0 ? rank - 1 : 0;
  const Operand v{CUBLAS_OP_N, v_nk + first * factors.v_column, n, factors.v_plane};
  const Operand p{CUBLAS_OP_T, factors.p_mk + first * factors.p_column, m, factors.p_plane};
  multiply(handles, n, m, rank, v, p, product_mn, count);
  store_product(batch.pixels, batch.planes, batch.has_wide_planes, count, m, n, product_mn,
                batch.out, batch.errors, handles.stream);
}

void reconstruct_at_ranks(const Handles& handles, const Problem& p, const DeviceBatch& batch,
                          const int* ranks, const Factors& factors, double* v_nk,
                          double* product_mn) {
  const std::size_t tiles = std::size_t(reconstruct_tile_count(p.m, p.n)) * std::size_t(p.count);
  for (std::size_t r = 0; r < p.ranks.size(); ++r) {
    const ReconstructedBatch to{batch.pixels,
                                batch.planes,
                                batch.has_wide_planes,
                                p.count,
                                p.m,
                                p.n,
                                batch.outputs + r * batch.output_stride_bytes,
                                batch.errors + r * tiles};
    if (ranks)
      reconstruct(to.pixels, to.planes, p.count, p.m, p.n, p.ranks[r],
                  ranks + r * std::size_t(p.count), factors, to.out, to.errors, handles.stream);
    else
      reconstruct_at_rank(handles, to, p.ranks[r], factors, v_nk, product_mn);
  }
}

}  // namespace eckart::compute::cuda
