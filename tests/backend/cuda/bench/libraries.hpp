#pragma once

#include <cuda_fp16.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "compute/cuda/solvers/batched_linear_algebra.hpp"
#include "tests/backend/cuda/device_array.hpp"

namespace eckart::compute::cuda::bench {

template <class T>
void copy(const Handles& handles, const DeviceArray<T>& from, const DeviceArray<T>& to) {
  ECKART_CUDA_CHECK(cudaMemcpyAsync(to.get(), from.get(), from.size() * sizeof(T),
                                    cudaMemcpyDeviceToDevice, handles.stream));
}

/// Column-major float16 matrices. `stride` is the distance of two matrices in elements.
struct Float16Operand {
  const __half* data;
  int rows, cols;
  std::int64_t stride;
};

/// C = alpha op(A) B + beta C with cuBLAS on tensor cores, for `count` matrices. C is float16 or
/// float32.
template <class Result>
void multiply(const Handles& handles, cublasOperation_t op, const Float16Operand& a,
              const Float16Operand& b, float alpha, float beta, Result* c, int count) {
  const int rows = op == CUBLAS_OP_T ? a.cols : a.rows, inner = a.rows + a.cols - rows;
  ECKART_CUDA_CHECK(cublasGemmStridedBatchedEx(
      handles.blas, op, CUBLAS_OP_N, rows, b.cols, inner, &alpha, a.data, CUDA_R_16F, a.rows,
      a.stride, b.data, CUDA_R_16F, b.rows, b.stride, &beta, c,
      std::is_same_v<Result, __half> ? CUDA_R_16F : CUDA_R_32F, rows, std::int64_t(rows) * b.cols,
      count, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
}

/// Symmetric eigenproblems with cuSOLVER in float64.
struct LibraryEigensolver {
  LibraryEigensolver(const Handles& handles_, int l_, int count_)
      : handles(handles_),
        l(l_),
        count(count_),
        matrices(std::size_t(l) * std::size_t(l) * std::size_t(count)),
        vectors(matrices.size()),
        values(std::size_t(l) * std::size_t(count)),
        info(std::size_t(count)),
        workspace(eigen.workspace_bytes(handles, l, count)) {}
  void prepare() const { copy(handles, matrices, vectors); }
  void solve() {
    eigen.solve(handles, vectors.get(), l, count, values.get(), info.get(), workspace.get(),
                workspace.size());
  }

  const Handles handles;
  const int l, count;
  BatchedSymmetricEigen eigen;
  const DeviceArray<double> matrices, vectors,
      values;  ///< vectors: eigenvectors of the matrices that prepare() copied there
  const DeviceArray<int> info;
  const DeviceArray<std::byte> workspace;
};

/// R^-1 of the Cholesky factors S = R'R, with cuSOLVER, and cuBLAS's triangular solver applied to
/// unit matrices.
template <class Real>
class LibraryCholeskyInverse {
 public:
  LibraryCholeskyInverse(const Handles& handles, const std::vector<Real>& s_ll, int l, int count)
      : handles_(handles),
        l_(l),
        count_(count),
        s_(s_ll),
        units_(units(l, count)),
        factors_(s_.size()),
        inverses_(s_.size()),
        each_factor_(each(factors_)),
        each_inverse_(each(inverses_)),
        info_(std::size_t(count)) {}

  void prepare() const {
    copy(handles_, s_, factors_);
    copy(handles_, units_, inverses_);
  }
  void solve() const {
    constexpr auto kUpper = CUBLAS_FILL_MODE_UPPER;
    const auto solve_by = [&](auto potrf, auto trsm) {
      const Real one = 1;
      ECKART_CUDA_CHECK(
          potrf(handles_.solver, kUpper, l_, each_factor_.get(), l_, info_.get(), count_));
      ECKART_CUDA_CHECK(trsm(handles_.blas, CUBLAS_SIDE_LEFT, kUpper, CUBLAS_OP_N,
                             CUBLAS_DIAG_NON_UNIT, l_, l_, &one, each_factor_.get(), l_,
                             each_inverse_.get(), l_, count_));
    };
    if constexpr (std::is_same_v<Real, float>) {
      solve_by(cusolverDnSpotrfBatched, cublasStrsmBatched);
    } else {
      solve_by(cusolverDnDpotrfBatched, cublasDtrsmBatched);
    }
  }
  /// The names of the functions, and how many factorizations failed. If any failed, the time is not
  /// comparable.
  std::string functions() const {
    prepare();
    solve();
    const std::vector<int> info = info_.copy_to_host();
    const auto failed = count_ - std::count(info.begin(), info.end(), 0);
    return std::string(std::is_same_v<Real, float>
                           ? "cusolverDnSpotrfBatched, cublasStrsmBatched"
                           : "cusolverDnDpotrfBatched, cublasDtrsmBatched") +
           (failed > 0 ? " (" + std::to_string(failed) + " matrices not factored)" : "");
  }

 private:
  static std::vector<Real> units(int l, int count) {
    std::vector<Real> values(std::size_t(l) * std::size_t(l) * std::size_t(count));
    for (std::size_t i = 0; i < std::size_t(l) * std::size_t(count); ++i)
      values[i * std::size_t(l) + i % std::size_t(l)] = 1;
    return values;
  }
  std::vector<Real*> each(const DeviceArray<Real>& matrices) const {
    std::vector<Real*> pointers;
    for (int i = 0; i < count_; ++i) pointers.push_back(matrices.get() + std::int64_t(l_) * l_ * i);
    return pointers;
  }

  const Handles handles_;
  const int l_, count_;
  const DeviceArray<Real> s_, units_, factors_, inverses_;
  const DeviceArray<Real*> each_factor_, each_inverse_;
  const DeviceArray<int> info_;
};

}  // namespace eckart::compute::cuda::bench
