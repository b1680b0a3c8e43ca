#include "codec/png/inflate.hpp"
#include "codec/png/wavefront_unfilter.hpp"
#include "compute/cuda/check.hpp"
#include "compute/cuda/codecs/device_warp.cuh"
#include "compute/cuda/codecs/png_decoder_kernels.hpp"
#include "compute/cuda/layout/warp.hpp"

namespace eckart::compute::cuda {
namespace {

using codec::png::InflatedRows;
using codec::png::Irregularity;

__device__ InflatedRows rows_of(const DevicePngInputs& pngs, const PngInputImage& image) {
  return {pngs.rows + image.first_row_byte, image.rows, image.cols * image.channels + 1};
}

__global__ void __launch_bounds__(kWarpSize) inflate_pngs_kernel(const DevicePngInputs pngs) {
  __shared__ codec::png::InflateMemory memory;
  const PngInputImage image = pngs.images[blockIdx.x];
  DeviceWarp warp(int(threadIdx.x));
  const Irregularity found = codec::png::inflate(
      warp, {pngs.words + image.first_word, image.stream_bytes}, rows_of(pngs, image), memory);
  if (threadIdx.x == 0) pngs.irregularity[blockIdx.x] = found;
}

__global__ void __launch_bounds__(kWarpSize) unfilter_pngs_kernel(const DevicePngInputs pngs) {
  if (pngs.irregularity[blockIdx.x] != Irregularity::none) return;
  const PngInputImage image = pngs.images[blockIdx.x];
  DeviceWarp warp(int(threadIdx.x));
  codec::png::unfilter(warp, rows_of(pngs, image), image.channels, pngs.pixels + image.first_pixel);
}

}  // namespace

void inflate_pngs(const DevicePngInputs& pngs, cudaStream_t stream) {
  const dim3 grid{unsigned(pngs.count)};
  const dim3 block(kWarpSize);
  inflate_pngs_kernel<<<grid, block, 0, stream>>>(pngs);
  check_launch("inflate_pngs_kernel", grid, block);
}

void unfilter_pngs(const DevicePngInputs& pngs, cudaStream_t stream) {
  const dim3 grid{unsigned(pngs.count)};
  const dim3 block(kWarpSize);
  unfilter_pngs_kernel<<<grid, block, 0, stream>>>(pngs);
  check_launch("unfilter_pngs_kernel", grid, block);
}

}  // namespace eckart::compute::cuda
