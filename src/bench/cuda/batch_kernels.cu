#include "bench/cuda/batch_kernels.hpp"
#include "bench/cuda/kernels/scale_rows.cuh"
#include "bench/cuda/kernels/to_pixels.cuh"
#include "compute/cuda/check.hpp"

namespace eckart::bench::cuda {
namespace {

constexpr unsigned kThreads = 256;

}  // namespace

void queue_scale_rows(float* factors, const BatchShape& shape, int images, cudaStream_t stream) {
  const dim3 grid((unsigned(shape.n) + kThreads - 1) / kThreads, unsigned(shape.k),
                  unsigned(images));
  const auto stride = int(shape.factor_count());
  float* const s_k = factors + std::size_t(shape.m) * std::size_t(shape.k);
  scale_rows<<<grid, kThreads, 0, stream>>>(s_k, s_k + shape.k, shape.k, shape.n, stride, stride);
  compute::cuda::check_launch("scale_rows", grid, kThreads);
}

void queue_to_pixels(const float* values, std::uint8_t* pixels, std::size_t count,
                     cudaStream_t stream) {
  const auto groups = unsigned(count / 4);
  const dim3 grid((groups + kThreads - 1) / kThreads);
  to_pixels<<<grid, kThreads, 0, stream>>>(reinterpret_cast<const float4*>(values),
                                           reinterpret_cast<uchar4*>(pixels), int(groups));
  compute::cuda::check_launch("to_pixels", grid, kThreads);
}

}  // namespace eckart::bench::cuda
