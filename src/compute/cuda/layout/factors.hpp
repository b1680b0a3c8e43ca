#pragma once

#include <cstdint>

namespace eckart::compute::cuda {

/// Float64 factors of a batch, A_k = P V_k' with P = A V: P has m rows, V has n rows. Element (i,
/// t) of plane p is at p_mk[p * p_plane + t * p_column + i]; t = 0 is the largest singular value.
/// If the columns are in ascending order, the stride is negative and the pointer is to the last
/// column.
struct Factors {
  const double* p_mk;
  const double* v_nk;
  std::int64_t p_plane, v_plane;
  std::int64_t p_column, v_column;
};

/// Describes P (m x k per plane) and V (n x v_columns per plane, the k leading columns are used).
/// Both are column-major and contiguous, with columns in the same order.
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

}  // namespace eckart::compute::cuda
