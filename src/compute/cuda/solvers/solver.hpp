#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cusolverDn.h>

#include <cstddef>
#include <memory>

#include "compute/cuda/kernels/reconstruct.hpp"
#include "compute/cuda/layout/plane_layout.hpp"
#include "compute/cuda/layout/spectrum_format.hpp"
#include "compute/cuda/layout/workspace_allocator.hpp"
#include "compute/cuda/plan/solver_sequence.hpp"

namespace eckart::cuda {

/// The handles that one lane's work goes through; all on its stream.
struct Handles {
  cudaStream_t stream;
  cublasHandle_t blas;
  cusolverDnHandle_t solver;
};

/// A batch on the device: what a solver reads, and where its results go.
struct DeviceBatch {
  const std::byte* pixels;
  const PlaneLayout* planes;
  bool has_16_bit_samples;          ///< whether any plane has samples of two bytes
  std::byte* outputs;               ///< packed as `pixels` are, for each rank in turn
  std::size_t output_stride_bytes;  ///< bytes from one rank's to the next's
  TileError*
      errors;      ///< reconstruct_tile_count() a plane, plane after plane, for each rank in turn
  double* values;  ///< SpectrumFormat::values() a plane
  int* info;       ///< one a plane, 0 where the solver converged
  std::byte* workspace;  ///< at least workspace_bytes()
  std::size_t workspace_bytes;
};

/// A way from a batch's pixels to its reconstructions. Asynchronous on the handles' stream unless
/// cuSOLVER itself is not; allocates nothing on the device in solve(). Throws as check() does.
class BatchSolver {
 public:
  virtual ~BatchSolver() = default;
  virtual SpectrumFormat spectrum(const Problem& problem) const = 0;
  /// Device memory for such a batch; called before every solve(), for at least as many planes.
  virtual std::size_t workspace_bytes(const Handles& handles, const Problem& problem) = 0;
  virtual void solve(const Handles& handles, const Problem& problem, const DeviceBatch& batch) = 0;
};

/// Block subspace iteration in float16 and float32, with max_float16_columns() at most. What it may
/// have lost, its values tell.
std::unique_ptr<BatchSolver> make_subspace_solver();
/// The same in float64, with any number of columns.
std::unique_ptr<BatchSolver> make_float64_subspace_solver();

std::unique_ptr<BatchSolver> make_solver(SolverStep step);

}  // namespace eckart::cuda
