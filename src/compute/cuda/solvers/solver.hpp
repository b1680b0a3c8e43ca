#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cusolverDn.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "compute/backend.hpp"

namespace eckart::cuda {

/// The handles that one lane's work goes through; all on its stream.
struct Handles {
  cudaStream_t stream;
  cublasHandle_t blas;
  cusolverDnHandle_t solver;
};

/// The size of a batch for a solver: `count` matrices A, each m x n, m >= n, of which `rank` <= n
/// right singular vectors are wanted.
struct Problem {
  int m, n, count, rank;
};

/// What is worked on, all on the device, float64, one matrix after the other.
struct Factorization {
  const double* a_t_nm;  ///< A transposed, column-major n x m
  double* v;  ///< out: right singular vectors, column-major, n x Spectrum::columns; room for n x n
  double* values;        ///< out: Spectrum::columns values; room for n
  int* info;             ///< out: one each, 0 where the solver converged
  std::byte* workspace;  ///< at least workspace_bytes()
  std::size_t workspace_bytes;
};

/// What a solver's values are, column by column of V.
enum class ValueOrder {
  ascending_squares,  ///< sigma^2, the smallest first
  descending          ///< sigma, the largest first
};
struct Spectrum {
  ValueOrder order;
  int columns;  ///< of V, and values: the leading ones, at least `rank`
};

/// Finds right singular vectors of a batch. Asynchronous on the handles' stream unless cuSOLVER
/// itself is not; allocates nothing on the device in solve(). Throws as check() does.
class BatchSolver {
 public:
  virtual ~BatchSolver() = default;
  virtual Spectrum spectrum(int n, int rank) const = 0;
  /// Device memory for such a batch; called before the first solve() of its size.
  virtual std::size_t workspace_bytes(const Handles& handles, const Problem& problem) = 0;
  virtual void solve(const Handles& handles, const Problem& problem,
                     const Factorization& batch) = 0;
};

/// Eigenvectors of the Gram matrices A'A: one batched product, one batched eigensolver.
std::unique_ptr<BatchSolver> make_gram_solver();
/// `rounds` of block subspace iteration on the Gram matrices: only the leading vectors. info is 1
/// where that has not been enough.
std::unique_ptr<BatchSolver> make_subspace_solver(int rounds);
/// cuSOLVER's gesvd, one matrix at a time.
std::unique_ptr<BatchSolver> make_gesvd_solver();
/// cuSOLVER's one-sided Jacobi, one matrix at a time.
std::unique_ptr<BatchSolver> make_gesvdj_solver();

/// The solvers to try one after the other, each on what the one before it has not settled.
std::vector<std::unique_ptr<BatchSolver>> make_solvers(SolverKind kind);

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
