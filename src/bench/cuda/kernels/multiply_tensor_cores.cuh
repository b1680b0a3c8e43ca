#pragma once

namespace eckart::bench::cuda {

constexpr int kTensorTile = 64;  // of C, computed by a block
constexpr int kTensorWarps = 4;  // of a block, each computes 32 x 32 elements
constexpr int kTensorThreads = 32 * kTensorWarps;

/// C = A diag(s) B as multiply_naive(), in float32, on tensor cores. These multiply numbers of 11
/// bits (TF32). Each number is split into two of them, hi + lo; three products, hi hi + hi lo + lo
/// hi, have almost the accuracy of float32 (Ootomo and Yokota 2022).
template <bool kIsScaled>
__global__ void __launch_bounds__(kTensorThreads)
    multiply_tensor_cores(const float* a_mk, const float* s_k, const float* b_kn, float* c_mn,
                          int m, int n, int k) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800  // older GPUs have no TF32
  namespace wmma = nvcuda::wmma;
  constexpr int kDepth = 16, kSide = 16, kFragmentDepth = 8, kPad = 4, kWarpSide = 2;
  constexpr int kColumns = kTensorTile + kPad;
  using A = wmma::fragment<wmma::matrix_a, kSide, kSide, kFragmentDepth, wmma::precision::tf32,
                           wmma::row_major>;
  using B = wmma::fragment<wmma::matrix_b, kSide, kSide, kFragmentDepth, wmma::precision::tf32,
                           wmma::row_major>;
  using C = wmma::fragment<wmma::accumulator, kSide, kSide, kFragmentDepth, float>;
  constexpr int kAlignment = 32;  // bytes, of what fragments are loaded from and stored to
  alignas(kAlignment) __shared__ float a[kTensorTile][kDepth + kPad];
  alignas(kAlignment) __shared__ float b[kDepth][kColumns];
  alignas(kAlignment) __shared__ float result[kTensorTile][kColumns];
  const int thread = int(threadIdx.x), warp = thread / 32;
  const int i0 = int(blockIdx.y) * kTensorTile, j0 = int(blockIdx.x) * kTensorTile;
  const int warp_i = warp / 2 * 32, warp_j = warp % 2 * 32;  // in the tile

  C sum[kWarpSide][kWarpSide];
  for (auto& row : sum) {
    for (C& fragment : row) wmma::fill_fragment(fragment, 0.0f);
  }
  const auto split = [](auto& hi, auto& lo) {
    for (int e = 0; e < hi.num_elements; ++e) {
      const float value = hi.x[e];
      hi.x[e] = wmma::__float_to_tf32(value);
      lo.x[e] = wmma::__float_to_tf32(value - hi.x[e]);
    }
  };
  for (int t0 = 0; t0 < k; t0 += kDepth) {
    for (int at = thread; at < kTensorTile * kDepth; at += kTensorThreads) {
      const int i = at / kDepth, ta = at % kDepth;
      a[i][ta] = i0 + i < m && t0 + ta < k ? a_mk[(i0 + i) * k + t0 + ta] : 0.0f;
      const int tb = at / kTensorTile, j = at % kTensorTile;
      const bool is_inside = j0 + j < n && t0 + tb < k;
      b[tb][j] = is_inside ? b_kn[(t0 + tb) * n + j0 + j] : 0.0f;
      if (kIsScaled && is_inside) b[tb][j] *= s_k[t0 + tb];
    }
    __syncthreads();
    for (int t = 0; t < kDepth; t += kFragmentDepth) {
      A a_hi[kWarpSide], a_lo[kWarpSide];
      B b_hi[kWarpSide], b_lo[kWarpSide];
      for (int e = 0; e < kWarpSide; ++e) {
        wmma::load_matrix_sync(a_hi[e], &a[warp_i + kSide * e][t], kDepth + kPad);
        wmma::load_matrix_sync(b_hi[e], &b[t][warp_j + kSide * e], kColumns);
        split(a_hi[e], a_lo[e]);
        split(b_hi[e], b_lo[e]);
      }
      for (int r = 0; r < kWarpSide; ++r) {
        for (int c = 0; c < kWarpSide; ++c) {
          C part;
          wmma::fill_fragment(part, 0.0f);
          wmma::mma_sync(part, a_lo[r], b_hi[c], part);  // the small products first
          wmma::mma_sync(part, a_hi[r], b_lo[c], part);
          wmma::mma_sync(part, a_hi[r], b_hi[c], part);
          for (int e = 0; e < part.num_elements; ++e) sum[r][c].x[e] += part.x[e];
        }
      }
    }
    __syncthreads();
  }
  for (int r = 0; r < kWarpSide; ++r) {
    for (int c = 0; c < kWarpSide; ++c)
      wmma::store_matrix_sync(&result[warp_i + kSide * r][warp_j + kSide * c], sum[r][c], kColumns,
                              wmma::mem_row_major);
  }
  __syncthreads();
  for (int at = thread; at < kTensorTile * kTensorTile; at += kTensorThreads) {
    const int i = at / kTensorTile, j = at % kTensorTile;
    if (i0 + i < m && j0 + j < n) c_mn[(i0 + i) * n + j0 + j] = result[i][j];
  }
#endif
}

}  // namespace eckart::bench::cuda
