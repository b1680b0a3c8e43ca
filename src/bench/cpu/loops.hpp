#pragma once

#include <algorithm>
#include <cstddef>

namespace eckart::bench {

// The operations as plain loops, as one writes them first. All matrices are row-major.

template <class Real>
void reconstruct_by_loops(const Real* u_mk, const Real* s_k, const Real* vt_kn, Real* c_mn,
                          std::size_t m, std::size_t n, std::size_t k) {
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      Real sum = 0;
      for (std::size_t t = 0; t < k; ++t) sum += u_mk[i * k + t] * s_k[t] * vt_kn[t * n + j];
      c_mn[i * n + j] = sum;
    }
  }
}

template <class Real>
void multiply_by_loops(const Real* a_mk, const Real* b_kn, Real* c_mn, std::size_t m, std::size_t n,
                       std::size_t k) {
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      Real sum = 0;
      for (std::size_t t = 0; t < k; ++t) sum += a_mk[i * k + t] * b_kn[t * n + j];
      c_mn[i * n + j] = sum;
    }
  }
}

template <class Real>
void transpose_by_loops(const Real* a_mn, Real* c_nm, std::size_t m, std::size_t n) {
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) c_nm[j * m + i] = a_mn[i * n + j];
  }
}

/// The rows [begin, end) of A, in blocks that fit into the cache.
template <class Real>
void transpose_by_blocks(const Real* a_mn, Real* c_nm, std::size_t m, std::size_t n,
                         std::size_t begin, std::size_t end) {
  constexpr std::size_t kBlock = 32;
  for (std::size_t i0 = begin; i0 < end; i0 += kBlock) {
    for (std::size_t j0 = 0; j0 < n; j0 += kBlock) {
      for (std::size_t j = j0; j < std::min(n, j0 + kBlock); ++j) {
        for (std::size_t i = i0; i < std::min(end, i0 + kBlock); ++i)
          c_nm[j * m + i] = a_mn[i * n + j];
      }
    }
  }
}

template <class Real>
void add_by_loop(const Real* a, const Real* b, Real* c, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) c[i] = a[i] + b[i];
}

template <class Real>
void multiply_vector_by_loops(const Real* a_mn, const Real* b_n, Real* c_m, std::size_t m,
                              std::size_t n) {
  for (std::size_t i = 0; i < m; ++i) {
    Real sum = 0;
    for (std::size_t j = 0; j < n; ++j) sum += a_mn[i * n + j] * b_n[j];
    c_m[i] = sum;
  }
}

}  // namespace eckart::bench
