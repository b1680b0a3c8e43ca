#pragma once

#include <algorithm>
#include <cstddef>

#include "compute/cuda/layout/carver.hpp"
#include "compute/cuda/layout/spectrum.hpp"
#include "compute/cuda/layout/tiles.hpp"

namespace eckart::cuda {

constexpr int kGranule = 16;  // sides of what the tensor cores multiply, and matrix products like

constexpr int to_granule(int value) { return (value + kGranule - 1) / kGranule * kGranule; }

/// The largest power of two that is at most the square root of `rows`: by it the entries of
/// orthonormal columns come near 1, where float16 has its precision.
float column_scale(int rows);

/// What keeps A times scaled orthonormal columns within float16: entries of A are below 256, so
/// those of the product are below 256 rows.
float product_scale(int inner);

/// Columns of the blocks of BlockCholeskyQr: as equal as the granule lets them be.
int block_columns(int l);

/// Workspace of BlockCholeskyQr, for `count` matrices of l columns.
struct BlockCholeskyQrParts {
  double *s, *lengths;
  static BlockCholeskyQrParts carve(Carver& carver, int l, int count);
};

/// m, n and k as the float16 subspace solver works with them, multiples of kGranule.
struct SubspaceSizes {
  explicit SubspaceSizes(const Problem& p)
      : m(to_granule(p.m)),
        n(to_granule(p.n)),
        l(p.columns),
        k(to_granule(p.rank())),
        count(p.count),
        rounds(p.rounds) {}
  std::size_t elements(int rows, int cols) const {
    return std::size_t(rows) * std::size_t(cols) * std::size_t(count);
  }
  int m, n, l, k, count, rounds;
};

/// Workspace of the float16 subspace solver. Half: __half.
template <class Half>
struct SubspaceParts {
  Half *a_hi_t, *a_lo_t;
  Half* q_nl;            ///< at last in two halves
  Half *z_ml, *product;  ///< product: A Q or A'Z before they are orthonormal
  float *b_ml, *s_ll;
  double* s64_ll;
  Half *m_hi, *m_lo;  ///< l x l, as SmallMatrix has it
  float* m_scale;
  Half* u_mk;  ///< two halves
  Half* v_nk;  ///< two halves
  float* tile_lengths;
  int* weak;

  static SubspaceParts carve(Carver& carver, const SubspaceSizes& s) {
    SubspaceParts parts{};
    parts.a_hi_t = carver.take<Half>(s.elements(s.m, s.n));
    parts.a_lo_t = carver.take<Half>(s.elements(s.m, s.n));
    parts.q_nl = carver.take<Half>(s.elements(s.n, 2 * s.l));
    parts.z_ml = carver.take<Half>(s.elements(s.m, s.l));
    parts.product = carver.take<Half>(s.elements(std::max(s.m, s.n), s.l));
    parts.b_ml = carver.take<float>(s.elements(s.m, s.l));
    parts.s_ll = carver.take<float>(s.elements(s.l, s.l));
    parts.s64_ll = carver.take<double>(s.elements(s.l, s.l));
    parts.m_hi = carver.take<Half>(s.elements(s.l, s.l));
    parts.m_lo = carver.take<Half>(s.elements(s.l, s.l));
    parts.m_scale = carver.take<float>(s.elements(s.l, 1));
    parts.u_mk = carver.take<Half>(s.elements(s.m, 2 * s.k));
    parts.v_nk = carver.take<Half>(s.elements(s.n, 2 * s.k));
    parts.tile_lengths = carver.take<float>(s.elements(project_tiles(s.n), s.k));
    parts.weak = carver.take<int>(std::size_t(s.count));
    return parts;
  }
};

/// Workspace of the float64 subspace solver, without what its eigensolver takes.
struct Float64SubspaceParts {
  double *a_t_nm, *q_nl, *z_ml, *product, *s_ll, *values_l, *u_mk, *v_nk;
  BlockCholeskyQrParts qr;
  static Float64SubspaceParts carve(Carver& carver, const Problem& p);
};

/// Workspace of a float64 solver, without what finds its right singular vectors.
struct Float64Parts {
  double *a_t_nm, *v_nn, *p_mk;
  static Float64Parts carve(Carver& carver, const Problem& p);
};

}  // namespace eckart::cuda
