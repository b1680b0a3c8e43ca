#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstddef>

namespace eckart::compute::cuda {

/// A batch of small matrices M (l x columns, column-major, contiguous) for float16 arithmetic: M =
/// diag(1 / scale) (hi + lo). `scale` holds powers of two, so that hi is near 1.
struct SmallMatrix {
  __half* hi;
  __half* lo;
  float* scale;  ///< l per matrix, for the rows of M; applied to the columns of the other factor
};

/// Multiplies `count` blocks of columns (rows x l, column-major, contiguous) by M (l x columns) and
/// by the power of two `factor`, with float32 sums. `is_upper`: M is upper triangular. rows must be
/// a multiple of 8, l and columns of 16. l is at most kMaxSmallOrder, and at most what
/// max_float16_columns() returns for the device. Asynchronous. Throws as check_launch() does.
///
/// rotate() reads and writes float16. M as hi + lo keeps the precision of its input.
void rotate(const __half* from, int rows, int l, const SmallMatrix& m_lc, int columns,
            bool is_upper, float factor, __half* to, int count, cudaStream_t stream);
/// rotate_split() writes hi and lo, rows x columns each, lo after hi: about 21 bits. Float32 input
/// is first split into hi + lo.
void rotate_split(const __half* from, int rows, int l, const SmallMatrix& m_lc, int columns,
                  bool is_upper, float factor, __half* to, int count, cudaStream_t stream);
void rotate_split(const float* from, int rows, int l, const SmallMatrix& m_lc, int columns,
                  bool is_upper, float factor, __half* to, int count, cudaStream_t stream);

}  // namespace eckart::compute::cuda
