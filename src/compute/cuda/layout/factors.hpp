#pragma once

#include <cstdint>

namespace eckart::cuda {

/// Factors of a batch, A_k = P V_k': P = A V (m rows), V (n rows), float64, columns one after the
/// other. Element (i, t) of plane p, t = 0 for the largest singular value, is at p_mk[p * p_plane +
/// t * p_column + i]; columns in ascending order have a negative stride, and the pointer is then to
/// the last column.
struct Factors {
  const double* p_mk;
  const double* v_nk;
  std::int64_t p_plane, v_plane;
  std::int64_t p_column, v_column;
};

/// Of P (m x k a plane) and V (n x v_columns a plane, of which the leading k are wanted): both
/// column-major, one matrix after the other, columns in the same order.
inline Factors make_factors(const double* p_mk, int m, const double* v, int n, int v_columns, int k,
                            bool is_ascending) {
  const std::int64_t p_column = is_ascending ? -m : m, v_column = is_ascending ? -n : n;
  return {.p_mk = is_ascending ? p_mk + std::int64_t(k - 1) * m : p_mk,
          .v_nk = is_ascending ? v + std::int64_t(v_columns - 1) * n : v,
          .p_plane = std::int64_t(m) * k,
          .v_plane = std::int64_t(n) * v_columns,
          .p_column = p_column,
          .v_column = v_column};
}

}  // namespace eckart::cuda
