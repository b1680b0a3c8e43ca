#include "compute/cuda/check.hpp"
#include "compute/cuda/kernels/choose_ranks.hpp"
#include "compute/cuda/layout/packing.hpp"

namespace eckart::compute::cuda {
namespace {

constexpr int kNormThreads = 256;
constexpr int kChooseThreads = 32;

__device__ std::uint64_t squared_sample(const std::byte* image, const PlaneLayout& plane,
                                        std::int64_t i) {
  const std::int64_t at = i * plane.channels + plane.channel;
  const std::uint64_t sample = plane.sample_bytes == 1
                                   ? reinterpret_cast<const std::uint8_t*>(image)[at]
                                   : reinterpret_cast<const std::uint16_t*>(image)[at];
  return sample * sample;
}

/// One block for each plane. The sum of squared integers is exact.
__global__ void squared_norms_kernel(const std::byte* __restrict__ pixels,
                                     const PlaneLayout* __restrict__ planes,
                                     double* __restrict__ norms) {
  __shared__ std::uint64_t sums[kNormThreads / 32];
  const PlaneLayout plane = planes[blockIdx.x];
  const std::int64_t samples = std::int64_t(plane.rows) * plane.cols;
  std::uint64_t sum = 0;
  for (std::int64_t i = threadIdx.x; i < samples; i += kNormThreads)
    sum += squared_sample(pixels + plane.offset_bytes, plane, i);
  for (int half = 16; half > 0; half /= 2) sum += __shfl_xor_sync(0xffffffffU, sum, half);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int warp = 1; warp < kNormThreads / 32; ++warp) sum += sums[warp];
  norms[blockIdx.x] = double(sum);
}

__device__ PlaneSpectrum spectrum_of(const DeviceSpectra& spectra, const PlaneLayout& plane, int p,
                                     double squared_norm) {
  PlaneSpectrum result;
  result.values = spectra.values + p * spectra.plane_stride + spectra.first;
  result.step = spectra.step;
  result.are_roots = spectra.are_roots;
  const double unscale = spectra.is_scaled ? 1 / float16_scale(plane.sample_bytes) : 1;
  result.scale = unscale * unscale;
  result.count = spectra.count < plane.n() ? spectra.count : plane.n();
  result.rows = plane.rows;
  result.cols = plane.cols;
  result.squared_norm = squared_norm;
  return result;
}

/// One thread for each image and output: that of the image's first plane.
__global__ void choose_ranks_kernel(const PlaneLayout* __restrict__ planes, int count,
                                    DeviceSpectra spectra, const RankRule* __restrict__ rules,
                                    const double* __restrict__ squared_norms,
                                    int* __restrict__ ranks) {
  const int p = int(blockIdx.x) * kChooseThreads + int(threadIdx.x);
  if (p >= count) return;
  const PlaneLayout first = planes[p];
  int* chosen = ranks + std::size_t(blockIdx.y) * std::size_t(count) + p;
  if (first.rows == 0) *chosen = 0;
  if (first.rows == 0 || first.channel != 0) return;
  PlaneSpectrum image[kMaxImagePlanes];
  for (int c = 0; c < first.channels; ++c)
    image[c] = spectrum_of(spectra, planes[p + c], p + c, squared_norms[p + c]);
  const RankRule* image_rules = rules + std::size_t(blockIdx.y) * std::size_t(count) + p;
  for (int c = 0; c < first.channels; c += image_rules[c].channels) {
    const int channels = image_rules[c].channels;
    const bool is_enough = choose_ranks(image_rules[c], image + c, channels, chosen + c);
    for (int i = c; !is_enough && i < c + channels; ++i) chosen[i] = -chosen[i];
  }
}

}  // namespace

void choose_batch_ranks(const std::byte* pixels, const PlaneLayout* planes, int count,
                        const DeviceSpectra& spectra, const RankRule* rules, int outputs,
                        double* squared_norms, int* ranks, cudaStream_t stream) {
  squared_norms_kernel<<<unsigned(count), kNormThreads, 0, stream>>>(pixels, planes, squared_norms);
  check_launch("squared_norms_kernel", unsigned(count), kNormThreads);
  const dim3 grid(unsigned((count + kChooseThreads - 1) / kChooseThreads), unsigned(outputs));
  choose_ranks_kernel<<<grid, kChooseThreads, 0, stream>>>(planes, count, spectra, rules,
                                                           squared_norms, ranks);
  check_launch("choose_ranks_kernel", grid, kChooseThreads);
}

}  // namespace eckart::compute::cuda
