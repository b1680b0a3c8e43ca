#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "compute/cuda/kernels/reconstruct_float16.hpp"
#include "compute/cuda/layout/factors.hpp"
#include "compute/cuda/layout/plane_layout.hpp"
#include "compute/cuda/layout/triplets.hpp"

namespace eckart::compute::cuda {

/// The singular triplets of a batch on the device.
struct DeviceTriplets {
  std::byte* data = nullptr;  ///< null if they are not wanted
  TripletLayout layout{};
};

/// Writes the singular triplets of A_k = P V': the columns of both divided by their norms, and the
/// products of these norms. A column of zeros stays as it is. Norms are computed in float64.
/// Columns and rows outside a plane are not written. Does nothing if `triplets` are not wanted. All
/// pointers are device pointers. Asynchronous. Throws as check_launch() does.
void normalize_triplets(const PlaneLayout* planes, int count, const Factors& factors,
                        const DeviceTriplets& triplets, cudaStream_t stream);
/// Of factors of planes padded to m x n. Float16 leaves products of the columns of V of about
/// 1e-7 sigma_1 / sigma_i; Gram-Schmidt removes them, from the first column to the last.
void normalize_triplets(const PlaneLayout* planes, int count, int m, int n,
                        const SplitFactors& factors, const DeviceTriplets& triplets,
                        cudaStream_t stream);

}  // namespace eckart::compute::cuda
