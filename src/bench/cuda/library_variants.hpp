#pragma once

#include <vector>

#include "bench/cuda/launches.hpp"
#include "compute/cuda/raii.hpp"

namespace eckart::bench::cuda {

/// The same operation with cuBLAS, on the stream of `blas`, which must outlive the variants; empty
/// if cuBLAS has none.
template <class Real>
std::vector<KernelVariant<Real>> library_variants(const Shape& shape, cublasHandle_t blas);

extern template std::vector<KernelVariant<float>> library_variants(const Shape&, cublasHandle_t);
extern template std::vector<KernelVariant<double>> library_variants(const Shape&, cublasHandle_t);

}  // namespace eckart::bench::cuda
