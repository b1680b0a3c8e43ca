#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "compute/cuda/check.hpp"
#include "synth/random.hpp"

namespace eckart::bench::cuda {

/// Fills device memory with uniform random numbers in (-1, 1): some are drawn on the host, then
/// copied on the device, doubling each time. Zeros would take less power, and so run faster.
template <class Real>
void fill_randomly(Real* to, std::size_t size) {
  synth::Random random(1);
  std::vector<Real> drawn(std::min(size, std::size_t(1) << 20));
  for (Real& value : drawn) value = Real(float(random.uniform(-1, 1)));
  ECKART_CUDA_CHECK(
      cudaMemcpy(to, drawn.data(), drawn.size() * sizeof(Real), cudaMemcpyHostToDevice));
  for (std::size_t done = drawn.size(); done < size; done *= 2) {
    const std::size_t more = std::min(done, size - done);
    ECKART_CUDA_CHECK(cudaMemcpy(to + done, to, more * sizeof(Real), cudaMemcpyDeviceToDevice));
  }
  ECKART_CUDA_CHECK(cudaDeviceSynchronize());
}

}  // namespace eckart::bench::cuda
