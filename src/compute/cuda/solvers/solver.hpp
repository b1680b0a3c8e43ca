#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cusolverDn.h>

#include <cstddef>
#include <memory>

#include "compute/cuda/kernels/choose_ranks.hpp"
#include "compute/cuda/kernels/normalize_triplets.hpp"
#include "compute/cuda/kernels/reconstruct.hpp"
#include "compute/cuda/layout/plane_layout.hpp"
#include "compute/cuda/layout/spectrum_format.hpp"
#include "compute/cuda/layout/workspace_allocator.hpp"
#include "compute/cuda/plan/solver_sequence.hpp"

namespace eckart::compute::cuda {

/// The handles of one lane. The libraries use `stream`.
struct Handles {
  cudaStream_t stream;
  cublasHandle_t blas;
  cusolverDnHandle_t solver;
};

/// A batch on the device: the inputs and outputs of a solver.
struct DeviceBatch {
  const std::byte* pixels;
  const PlaneLayout* planes;
  bool has_16_bit_samples;          ///< a plane has 16-bit samples
  bool has_wide_planes;             ///< a plane has fewer rows than columns
  std::byte* outputs;               ///< packed like `pixels`, rank after rank
  std::size_t output_stride_bytes;  ///< distance of two ranks in `outputs`
  TileError* errors;  ///< reconstruct_tile_count() per plane, plane after plane, rank after rank
  double* values;     ///< SpectrumFormat::values() per plane
  int* info;          ///< one per plane, 0 if the solver converged
  const RankRule* rules =
      nullptr;           ///< of choose_batch_ranks(); null: the ranks are those of the problem
  int* ranks = nullptr;  ///< chosen ranks, if there are rules
  double* squared_norms = nullptr;  ///< of the planes, if there are rules
  DeviceTriplets triplets = {};     ///< output, if they are wanted
  std::byte* workspace;             ///< at least workspace_bytes()
  std::size_t workspace_bytes;
};

/// Chooses the ranks of a batch with rules, from the values that a solver has written. Returns
/// batch.ranks; null for a batch without rules, whose ranks are those of the problem.
const int* choose_ranks(const Handles& handles, const Problem& problem, const DeviceBatch& batch,
                        const DeviceSpectra& spectra);

/// Computes the reconstructions of a batch from its pixels. Asynchronous on the handles' stream,
/// unless a cuSOLVER function is synchronous. solve() does not allocate device memory.
///
/// workspace_bytes() and solve() throw as check() does. A plane that does not converge causes no
/// exception: its DeviceBatch::info is then not 0. After an exception from solve(), part of its
/// work may be queued.
class BatchSolver {
 public:
  virtual ~BatchSolver() = default;
  virtual SpectrumFormat spectrum(const Problem& problem) const = 0;
  /// The device memory that solve() needs. Must be called before every solve(), for at least as
  /// many planes.
  virtual std::size_t workspace_bytes(const Handles& handles, const Problem& problem) = 0;
  virtual void solve(const Handles& handles, const Problem& problem, const DeviceBatch& batch) = 0;
};

/// Block subspace iteration in float16 and float32, with at most max_float16_columns() columns. Its
/// values are RitzValues for the loss estimate.
std::unique_ptr<BatchSolver> make_subspace_solver();
/// Block subspace iteration in float64 with any number of columns.
std::unique_ptr<BatchSolver> make_float64_subspace_solver();

/// Throws as check() does.
std::unique_ptr<BatchSolver> make_solver(SolverStep step);

}  // namespace eckart::compute::cuda
