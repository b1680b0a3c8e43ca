#pragma once

#include "compute/cuda/layout/factors.hpp"
#include "compute/cuda/solvers/solver.hpp"

namespace eckart::compute::cuda {

/// Pixels of a batch, and where its reconstruction goes.
struct ReconstructedBatch {
  const std::byte* pixels;
  const PlaneLayout* planes;
  bool has_wide_planes;  ///< a plane has fewer rows than columns
  int count, m, n;       ///< planes padded to m x n
  std::byte* out;
  TileError* errors;
};

/// The largest rank for which reconstruct() is at least as fast as cuBLAS and store_product().
constexpr int kMaxFusedRank = 32;

/// Reconstructs all planes at one rank in float64, in the faster one of these two ways. The columns
/// of both factors follow each other without gaps. `v_nk` is factors.v_nk: columns of V beyond the
/// smaller side of a plane are overwritten. So is `product_mn` (count * m * n elements). Results
/// are as those of reconstruct(). Throws as check() does.
void reconstruct_at_rank(const Handles& handles, const ReconstructedBatch& batch, int rank,
                         const Factors& factors, double* v_nk, double* product_mn);

/// Reconstructs all planes at each rank of the problem. `ranks`: what choose_ranks() returns.
/// Otherwise as reconstruct_at_rank().
void reconstruct_at_ranks(const Handles& handles, const Problem& problem, const DeviceBatch& batch,
                          const int* ranks, const Factors& factors, double* v_nk,
                          double* product_mn);

}  // namespace eckart::compute::cuda
