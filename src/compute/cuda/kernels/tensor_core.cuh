#pragma once

// Tensor core instructions. layout/tensor_core.hpp defines which elements each lane holds.

#include <cuda_fp16.h>

#include "compute/cuda/layout/tensor_core.hpp"

namespace eckart::compute::cuda::tensor_core {

/// Loads four 8 x 8 float16 matrices from shared memory. Lane 8 i + r passes the address of row r
/// of matrix i (16 bytes, aligned). to[i] receives elements (g, 2t) and (g, 2t + 1) of matrix i.
__device__ inline void load(unsigned (&to)[4], const __half* row) {
  const auto address = unsigned(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address)
               : "memory");
}
/// Like load(), but transposes the matrices: elements (2t, g) and (2t + 1, g).
__device__ inline void load_transposed(unsigned (&to)[4], const __half* row) {
  const auto address = unsigned(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address)
               : "memory");
}

/// Loads a 16 x 16 operand A at `at`, stored as A[row][k] (k contiguous).
__device__ inline void load_a(unsigned (&a)[4], const __half* at, int stride, int lane) {
  const auto [row, column] = ldmatrix_column_order(lane);
  load(a, at + row * stride + column);
}
/// Loads a 16 x 16 operand A at `at`, stored as A[k][row] (rows contiguous).
__device__ inline void load_a_transposed(unsigned (&a)[4], const __half* at, int stride, int lane) {
  const auto [row, column] = ldmatrix_row_order(lane);
  load_transposed(a, at + row * stride + column);
}
/// Loads two adjacent 16 x 8 operands B at `at`, stored as B[k][column] (columns contiguous). b[0],
/// b[1] are the first, b[2], b[3] the second.
__device__ inline void load_b_pair(unsigned (&b)[4], const __half* at, int stride, int lane) {
  const auto [row, column] = ldmatrix_column_order(lane);
  load_transposed(b, at + row * stride + column);
}

/// Loads two adjacent 16 x 8 operands B at `at`, stored as B[column][k] (k contiguous).
__device__ inline void load_b_pair_transposed(unsigned (&b)[4], const __half* at, int stride,
                                              int lane) {
  const auto [row, column] = ldmatrix_row_order(lane);
  load(b, at + row * stride + column);
}

/// c += A B, A is 16 x 16 and B is 16 x 8 in float16, c in float32. c[0], c[1] are elements (g, 2t)
/// and (g, 2t + 1); c[2], c[3] are those of row g + 8. The sum is truncated, not rounded: add up
/// long sums of one sign in parts.
__device__ inline void multiply_add(float (&c)[4], const unsigned (&a)[4], unsigned b0,
                                    unsigned b1) {
#if __CUDA_ARCH__ >= 800
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#else
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%8}, {%0, %1, "
      "%2, %3};\n\t"
      "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%6, %7}, {%9}, {%0, %1, "
      "%2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
}

/// c += A B in float64, A is 8 x 4 and B is 4 x 8. `a` is element (g, t) of A, `b` is element (t,
/// g) of B; c[0] and c[1] are elements (g, 2t) and (g, 2t + 1).
__device__ inline void multiply_add(double (&c)[2], double a, double b) {
#if __CUDA_ARCH__ >= 800
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
               : "+d"(c[0]), "+d"(c[1])
               : "d"(a), "d"(b));
#else
  const int lane = int(threadIdx.x) % 32;
  for (int k = 0; k < 4; ++k) {
    const double from_a = __shfl_sync(0xffffffffU, a, lane / 4 * 4 + k);
    for (int i = 0; i < 2; ++i) {
      c[i] += from_a * __shfl_sync(0xffffffffU, b, (lane % 4 * 2 + i) * 4 + k);
    }
  }
#endif
}

}  // namespace eckart::compute::cuda::tensor_core
