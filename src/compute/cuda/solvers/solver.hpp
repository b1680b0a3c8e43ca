#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cusolverDn.h>

#include <cstddef>
#include <memory>

#include "compute/backend.hpp"

namespace eckart::cuda {

/// The handles that one lane's work goes through; all on its stream.
struct Handles {
  cudaStream_t stream;
  cublasHandle_t blas;
  cusolverDnHandle_t solver;
};

/// A batch for a solver, on the device, float64: `count` matrices A, each m x n, m >= n.
struct Factorization {
  int m, n, count;
  const double* a_t_nm;    ///< A transposed, column-major n x m, one after the other
  double* v_nn;            ///< out: right singular vectors, column-major n x n each
  double* values_n;        ///< out: n values each, in the order and the power that order() says
  int* info;               ///< out: one each, 0 where the solver converged
  std::byte* workspace;    ///< at least workspace_bytes()
  std::size_t workspace_bytes;
};

/// What a solver's values are, column by column of V.
enum class ValueOrder {
  ascending_squares,  ///< sigma^2, the smallest first
  descending          ///< sigma, the largest first
};

/// Finds right singular vectors of a batch. Asynchronous on the handles' stream unless cuSOLVER itself is not;
/// allocates nothing on the device. Throws as check() does.
class BatchSolver {
 public:
  virtual ~BatchSolver() = default;
  virtual ValueOrder order() const = 0;
  /// Device memory for up to `count` matrices of this shape.
  virtual std::size_t workspace_bytes(const Handles& handles, int m, int n, int count) = 0;
  virtual void solve(const Handles& handles, const Factorization& batch) = 0;
};

/// Eigenvectors of the Gram matrices A'A: one batched product, one batched eigensolver.
std::unique_ptr<BatchSolver> make_gram_solver();
/// cuSOLVER's gesvd, one matrix at a time.
std::unique_ptr<BatchSolver> make_gesvd_solver();
/// cuSOLVER's one-sided Jacobi, one matrix at a time.
std::unique_ptr<BatchSolver> make_gesvdj_solver();

std::unique_ptr<BatchSolver> make_solver(SolverKind kind);

/// Hands out pieces of a workspace, each aligned to 256 bytes.
class Carver {
 public:
  explicit Carver(std::byte* begin) : next_(begin) {}
  template <class T>
  T* take(std::size_t count) {
    std::byte* piece = next_;
    next_ += bytes<T>(count);
    return reinterpret_cast<T*>(piece);
  }
  template <class T>
  static std::size_t bytes(std::size_t count) {
    return (count * sizeof(T) + 255) / 256 * 256;
  }

 private:
  std::byte* next_;
};

}  // namespace eckart::cuda
