#pragma once

#include <cuda_runtime.h>

#include <functional>
#include <vector>

#include "bench/operation/device.hpp"

namespace eckart::bench::cuda {

/// Queues the work of a variant. The pointers are to device memory. Throws as check() of
/// compute/cuda.
template <class Real>
using Launch = std::function<void(const std::vector<const Real*>& operands, Real* result,
                                  cudaStream_t stream)>;

template <class Real>
struct KernelVariant {
  Variant variant;
  Launch<Real> launch;
};

/// All kernels of this folder for an operation.
template <class Real>
std::vector<KernelVariant<Real>> kernel_variants(const Shape& shape);

extern template std::vector<KernelVariant<float>> kernel_variants(const Shape& shape);
extern template std::vector<KernelVariant<double>> kernel_variants(const Shape& shape);

}  // namespace eckart::bench::cuda
