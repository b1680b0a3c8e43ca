#pragma once

#include <algorithm>
#include <cstddef>

#include "compute/cuda/layout/spectrum_format.hpp"
#include "compute/cuda/layout/tiles.hpp"
#include "compute/cuda/layout/workspace_allocator.hpp"
#include "core/round_up.hpp"

namespace eckart::compute::cuda {

// Dimensions are multiples of this: tensor cores require it, matrix products are faster.
constexpr int kTensorCoreAlignment = 16;

constexpr int align_up(int value) { return round_up(value, kTensorCoreAlignment); }

/// The largest power of two that is at most sqrt(rows). It scales the entries of orthonormal
/// columns to about 1, where float16 is most precise.
float orthonormal_column_scale(int rows);

/// The power of two that keeps A times scaled orthonormal columns within float16. Entries of A are
/// below 256, so entries of the product are below 256 `inner`.
float float16_product_scale(int inner);

/// Columns per block of BlockCholeskyQr: blocks of nearly equal size, multiples of
/// kTensorCoreAlignment.
int block_columns(int l);

/// Workspace of BlockCholeskyQr for `count` matrices of l columns.
struct BlockCholeskyQrBuffers {
  double *s, *norms;
  static BlockCholeskyQrBuffers allocate(WorkspaceAllocator& allocator, int l, int count);
};

/// The sizes that the float16 subspace solver uses. m, n and k are multiples of
/// kTensorCoreAlignment.
struct SubspaceSizes {
  explicit SubspaceSizes(const Problem& p)
      : m(align_up(p.m)),
        n(align_up(p.n)),
        l(p.columns),
        k(align_up(p.rank())),
        count(p.count),
        iterations(p.iterations) {}
  std::size_t elements(int rows, int cols) const {
    return std::size_t(rows) * std::size_t(cols) * std::size_t(count);
  }
  int m, n, l, k, count, iterations;
};

/// Workspace of the float16 subspace solver. Half is __half; tests use another type of the same
/// size.
template <class Half>
struct SubspaceBuffers {
  Half *a_hi_t, *a_lo_t;
  Half* q_nl;            ///< float16; after the last iteration hi + lo
  Half *z_ml, *product;  ///< product: A Q or A'Z before orthonormalization
  float *b_ml, *s_ll;
  double* s64_ll;
  Half *m_hi, *m_lo;  ///< l x l, see SmallMatrix
  float* m_scale;
  Half* u_mk;  ///< hi + lo
  Half* v_nk;  ///< hi + lo
  float* tile_squared_norms;
  int* ill_conditioned;

  static SubspaceBuffers allocate(WorkspaceAllocator& allocator, const SubspaceSizes& s) {
    SubspaceBuffers buffers{};
    buffers.a_hi_t = allocator.allocate<Half>(s.elements(s.m, s.n));
    buffers.a_lo_t = allocator.allocate<Half>(s.elements(s.m, s.n));
    buffers.q_nl = allocator.allocate<Half>(s.elements(s.n, 2 * s.l));
    buffers.z_ml = allocator.allocate<Half>(s.elements(s.m, s.l));
    buffers.product = allocator.allocate<Half>(s.elements(std::max(s.m, s.n), s.l));
    buffers.b_ml = allocator.allocate<float>(s.elements(s.m, s.l));
    buffers.s_ll = allocator.allocate<float>(s.elements(s.l, s.l));
    buffers.s64_ll = allocator.allocate<double>(s.elements(s.l, s.l));
    buffers.m_hi = allocator.allocate<Half>(s.elements(s.l, s.l));
    buffers.m_lo = allocator.allocate<Half>(s.elements(s.l, s.l));
    buffers.m_scale = allocator.allocate<float>(s.elements(s.l, 1));
    buffers.u_mk = allocator.allocate<Half>(s.elements(s.m, 2 * s.k));
    buffers.v_nk = allocator.allocate<Half>(s.elements(s.n, 2 * s.k));
    buffers.tile_squared_norms =
        allocator.allocate<float>(s.elements(project_tile_count(s.n), s.k));
    buffers.ill_conditioned = allocator.allocate<int>(std::size_t(s.count));
    return buffers;
  }
};

/// Workspace of the float64 subspace solver, without that of its eigensolver.
struct Float64SubspaceBuffers {
  double *a_t_nm, *q_nl, *z_ml, *product, *s_ll, *values_l, *u_mk, *v_nk;
  BlockCholeskyQrBuffers qr;
  static Float64SubspaceBuffers allocate(WorkspaceAllocator& allocator, const Problem& p);
};

/// Workspace of a full decomposition in float64, without that of its RightSingularVectorSolver.
struct FullSvdBuffers {
  double *a_t_nm, *v_nn, *p_mk;
  static FullSvdBuffers allocate(WorkspaceAllocator& allocator, const Problem& p);
};

}  // namespace eckart::compute::cuda
