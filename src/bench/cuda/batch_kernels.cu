#include "bench/cuda/batch_kernels.hpp"
#include "bench/cuda/kernels/pixels_and_errors.cuh"
#include "bench/cuda/kernels/scale_rows.cuh"
#include "bench/cuda/kernels/to_pixels.cuh"
#include "compute/cuda/check.hpp"

namespace eckart::bench::cuda {
namespace {

constexpr unsigned kThreads = 256;

template <class Real>
void launch_pixels_and_errors(const Real* values, const std::uint8_t* originals,
                              std::uint8_t* pixels, PixelErrors* errors, const BatchShape& shape,
                              cudaStream_t stream) {
  const dim3 grid(unsigned(error_blocks(shape)), unsigned(shape.images));
  pixels_and_errors<<<grid, kErrorThreads, 0, stream>>>(
      reinterpret_cast<const PixelQuad<Real>*>(values),
      reinterpret_cast<const PixelQuad<unsigned char>*>(originals),
      reinterpret_cast<PixelQuad<unsigned char>*>(pixels), errors, int(shape.pixel_count() / 4));
  compute::cuda::check_launch("pixels_and_errors", grid, kErrorThreads);
}

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

int error_blocks(const BatchShape& shape) {
  constexpr std::size_t kPixels = std::size_t(4) * kErrorQuads * kErrorThreads;
  return int((shape.pixel_count() + kPixels - 1) / kPixels);
}
void queue_pixels_and_errors(const float* values, const std::uint8_t* originals,
                             std::uint8_t* pixels, PixelErrors* errors, const BatchShape& shape,
                             cudaStream_t stream) {
  launch_pixels_and_errors(values, originals, pixels, errors, shape, stream);
}
void queue_pixels_and_errors(const double* values, const std::uint8_t* originals,
                             std::uint8_t* pixels, PixelErrors* errors, const BatchShape& shape,
                             cudaStream_t stream) {
  launch_pixels_and_errors(values, originals, pixels, errors, shape, stream);
}

}  // namespace eckart::bench::cuda
