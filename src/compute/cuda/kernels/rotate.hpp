#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstddef>

namespace eckart::cuda {

/// Small matrices M (l x columns, column-major, a batch of them one after the other) for float16
/// arithmetic: M = diag(1 / scale) (hi + lo), with powers of two in `scale` such that hi is near 1.
struct SmallMatrix {
  __half* hi;
  __half* lo;
  float* scale;  ///< l of them a matrix, for M's rows: what multiplies them has its columns scaled
};

/// Multiplies `count` blocks of columns (rows x l, column-major, one after the other) by small
/// matrices M (l x columns) and the power of two `factor`. rows must be a multiple of 8, l and
/// columns of 16, l at most 256. `upper`: M is upper triangular. Float32 accumulation.
///
/// The first takes and gives float16; M as hi and lo makes its result as good as its input.
void rotate(const __half* from, int rows, int l, const SmallMatrix& by, int columns, bool upper,
            float factor, __half* to, int count, cudaStream_t stream);
/// The others give hi and lo, each rows x columns, lo behind hi: about 21 bits. Float32 is split
/// into two float16 parts (hi, lo) first.
void rotate_split(const __half* from, int rows, int l, const SmallMatrix& by, int columns,
                  bool upper, float factor, __half* to, int count, cudaStream_t stream);
void rotate_split(const float* from, int rows, int l, const SmallMatrix& by, int columns,
                  bool upper, float factor, __half* to, int count, cudaStream_t stream);

}  // namespace eckart::cuda
