#include <algorithm>

#include "compute/cuda/check.hpp"
#include "compute/cuda/kernels/resize.hpp"

namespace eckart::compute::cuda {
namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kMaxBlocks = 4096;  // of an image

template <class Sample>
__device__ void filter(const std::byte* in_image, const FilterPass& pass,
                       const FilterWindow* __restrict__ windows,
                       const std::int32_t* __restrict__ weights, std::byte* out_image) {
  const auto* __restrict__ in = reinterpret_cast<const Sample*>(in_image);
  auto* __restrict__ out = reinterpret_cast<Sample*>(out_image);
  const int top = sizeof(Sample) == 1 ? 255 : 65535;
  const std::int64_t step = std::int64_t(gridDim.x) * kThreads;
  for (std::int64_t i = std::int64_t(blockIdx.x) * kThreads + threadIdx.x; i < pass.out_samples();
       i += step) {
    const int x = pass.position(i);
    const FilterWindow window = windows[x];
    const std::int32_t* weight = weights + std::int64_t(x) * pass.max_count;
    const Sample* sample = in + pass.first_in_index(i, window.first);
    std::int64_t sum = 0;
    for (int t = 0; t < window.count; ++t, sample += pass.run)
      sum += std::int64_t(*sample) * weight[t];
    out[i] = Sample(round_filtered(sum, pass.fraction_bits, top));
  }
}

__global__ void filter_side_kernel(const std::byte* __restrict__ in,
                                   const FilterPass* __restrict__ passes,
                                   const FilterWindow* __restrict__ windows,
                                   const std::int32_t* __restrict__ weights,
                                   std::byte* __restrict__ out) {
  const FilterPass pass = passes[blockIdx.y];
  in += pass.in_bytes;
  out += pass.out_bytes;
  windows += pass.windows;
  weights += pass.weights;
  if (pass.sample_bytes == 1) {
    filter<std::uint8_t>(in, pass, windows, weights, out);
  } else {
    filter<std::uint16_t>(in, pass, windows, weights, out);
  }
}

}  // namespace

void filter_side(const std::byte* in, const FilterPass* passes, int count,
                 std::int64_t max_out_samples, const FilterWindow* windows,
                 const std::int32_t* weights, std::byte* out, cudaStream_t stream) {
  const std::int64_t blocks =
      std::clamp<std::int64_t>((max_out_samples + kThreads - 1) / kThreads, 1, kMaxBlocks);
  const dim3 grid(static_cast<unsigned>(blocks), unsigned(count));
  const dim3 block(kThreads);
  filter_side_kernel<<<grid, block, 0, stream>>>(in, passes, windows, weights, out);
  check_launch("filter_side_kernel", grid, block);
}

}  // namespace eckart::compute::cuda
