#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cusolverDn.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "compute/backend.hpp"
#include "compute/certificate.hpp"
#include "compute/cuda/kernels/reconstruct.hpp"
#include "compute/cuda/plane.hpp"

namespace eckart::cuda {

/// The handles that one lane's work goes through; all on its stream.
struct Handles {
  cudaStream_t stream;
  cublasHandle_t blas;
  cusolverDnHandle_t solver;
};

/// The size of a batch for a solver: `count` planes padded to m x n, m >= n, wanted at these
/// ranks, each at most n.
struct Problem {
  int m, n, count;
  std::vector<int> ranks;
  int columns;       ///< that subspace iteration works with
  int rounds;        ///< and how many of it
  int rank() const;  ///< the largest
};

/// A batch on the device: what a solver reads, and where its results go.
struct DeviceBatch {
  const std::byte* pixels;
  const Plane* planes;
  bool sixteen_bits;        ///< whether any plane has samples of two bytes
  std::byte* outputs;       ///< packed as `pixels` are, for each rank in turn
  std::size_t output_step;  ///< bytes from one rank's to the next's
  TileError* errors;     ///< reconstruct_tiles() a plane, plane after plane, for each rank in turn
  double* values;        ///< Spectrum::values() a plane
  int* info;             ///< one a plane, 0 where the solver converged
  std::byte* workspace;  ///< at least workspace_bytes()
  std::size_t workspace_bytes;
};

/// What a solver tells of a plane's singular values.
enum class ValueOrder {
  ascending_squares,  ///< sigma^2, the smallest first
  descending,         ///< sigma, the largest first
  ritz  ///< sigma^2 of A Q, the largest first, and then as many refined ones as wanted
};
struct Spectrum {
  ValueOrder order;
  int columns;      ///< how many values, the leading ones, at least the rank
  int refined = 0;  ///< and how many refined ones, see RitzValues
  Precision precision = Precision::float64;
  int values() const { return columns + refined; }
};

/// A way from a batch's pixels to its reconstructions. Asynchronous on the handles' stream unless
/// cuSOLVER itself is not; allocates nothing on the device in solve(). Throws as check() does.
class BatchSolver {
 public:
  virtual ~BatchSolver() = default;
  virtual Spectrum spectrum(const Problem& problem) const = 0;
  /// Device memory for such a batch; called before every solve(), for at least as many planes.
  virtual std::size_t workspace_bytes(const Handles& handles, const Problem& problem) = 0;
  virtual void solve(const Handles& handles, const Problem& problem, const DeviceBatch& batch) = 0;
  /// Whether several planes take as long as each of them does alone.
  virtual bool one_by_one() const { return false; }
};

/// Block subspace iteration in float16 and float32, with most_small_columns() at most. What it may
/// have lost, its values tell.
std::unique_ptr<BatchSolver> make_subspace_solver();
/// The same in float64, with any number of columns.
std::unique_ptr<BatchSolver> make_float64_subspace_solver();

/// The solvers to try one after the other, each on what the one before it has not settled. `alone`:
/// a solver that needs no other is not followed by one.
std::vector<std::unique_ptr<BatchSolver>> make_solvers(SolverKind kind, bool alone);

/// Hands out pieces of a workspace, each aligned to 256 bytes. With no workspace it only counts.
class Carver {
 public:
  explicit Carver(std::byte* begin) : begin_(begin) {}
  template <class T>
  T* take(std::size_t count) {
    std::byte* piece = begin_ ? begin_ + used_ : nullptr;
    used_ += bytes<T>(count);
    return reinterpret_cast<T*>(piece);
  }
  template <class T>
  static std::size_t bytes(std::size_t count) {
    return (count * sizeof(T) + 255) / 256 * 256;
  }
  std::size_t used() const { return used_; }

 private:
  std::byte* begin_;
  std::size_t used_ = 0;
};

}  // namespace eckart::cuda
