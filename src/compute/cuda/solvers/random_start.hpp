#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <random>
#include <vector>

#include "compute/cuda/raii.hpp"

namespace eckart::compute::cuda {

constexpr unsigned kStartSeed = 1936;

/// The start block of subspace iteration, the same for all matrices and machines: n x l random
/// signs from a fixed seed, column-major. A smaller start block is a prefix of a larger one.
template <class Number>
class RandomStart {
 public:
  const Number* data() const { return signs_.as<Number>(); }

  /// Grows to n x l. If it must grow, it first waits for `stream`, because a batch may be reading
  /// the old block. Throws as check() does; the block is then empty.
  void reserve(cudaStream_t stream, int n, int l) {
    const std::size_t elements = std::size_t(n) * std::size_t(l);
    if (elements <= elements_) return;
    ECKART_CUDA_CHECK(cudaStreamSynchronize(stream));
    elements_ = 0;
    std::vector<Number> signs(elements);
    std::mt19937_64 random(kStartSeed);
    for (Number& sign : signs) sign = Number(random() >> 63 ? 1.0F : -1.0F);
    const std::size_t bytes = elements * sizeof(Number);
    signs_.reserve(bytes);
    ECKART_CUDA_CHECK_COPY(
        cudaMemcpyAsync(signs_.as<>(), signs.data(), bytes, cudaMemcpyHostToDevice, stream), bytes);
    ECKART_CUDA_CHECK(cudaStreamSynchronize(stream));
    elements_ = elements;
  }

 private:
  DeviceBuffer signs_;
  std::size_t elements_ = 0;
};

}  // namespace eckart::compute::cuda
