#pragma once

namespace eckart::bench::cuda {

/// B = diag(s) B for matrices of k x n, row-major, one for each index z of a block. The operands of
/// two matrices are s_stride and b_stride apart.
__global__ void scale_rows(const float* s_k, float* b_kn, int k, int n, int s_stride,
                           int b_stride) {
  const int j = int(blockIdx.x * blockDim.x + threadIdx.x), t = int(blockIdx.y);
  const int matrix = int(blockIdx.z);
  if (t < k && j < n) b_kn[matrix * b_stride + t * n + j] *= s_k[matrix * s_stride + t];
}

}  // namespace eckart::bench::cuda
