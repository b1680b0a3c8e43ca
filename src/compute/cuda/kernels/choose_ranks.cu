#include "compute/cuda/check.hpp"
#include "compute/cuda/kernels/choose_ranks.hpp"
#include "compute/cuda/layout/packing.hpp"

namespace eckart::compute::cuda {
namespace {

constexpr int kNormThreads = 256;
constexpr int kChooseThreads = 32;

/// The sum of the squared samples of a plane, in thread 0 of the block. `Sum` holds a square and
/// the sum; the sum of integers is exact.
template <class Samples, class Sum>
__device__ double squared_norm(const std::byte* pixels, const PlaneLayout& plane) {
  __shared__ Sum sums[kNormThreads / 32];
  const auto* samples =
      reinterpret_cast<const Samples*>(pixels + plane.offset_bytes) + plane.channel;
  const std::int64_t count = std::int64_t(plane.rows) * plane.cols;
  Sum sum = 0;
  for (std::int64_t i = threadIdx.x; i < count; i += kNormThreads) {
    const Sum sample = samples[i * plane.channels];
    sum += sample * sample;
  }
  for (int half = 16; half > 0; half /= 2) sum += __shfl_xor_sync(0xffffffffU, sum, half);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  for (int warp = 1; warp < kNormThreads / 32; ++warp) sum += sums[warp];
  return double(sum);
}

/// One block for each plane.
__global__ void squared_norms_kernel(const std::byte* __restrict__ pixels,
                                     const PlaneLayout* __restrict__ planes,
                                     double* __restrict__ norms) {
  const PlaneLayout plane = planes[blockIdx.x];
  const double norm =
      plane.sample_bytes == 1   ? squared_norm<std::uint8_t, std::uint64_t>(pixels, plane)
      : plane.sample_bytes == 2 ? squared_norm<std::uint16_t, std::uint64_t>(pixels, plane)
                                : squared_norm<float, double>(pixels, plane);
  if (threadIdx.x == 0) norms[blockIdx.x] = norm;
}

__device__ PlaneSpectrum spectrum_of(const DeviceSpectra& spectra, const PlaneLayout& plane, int p,
                                     double squared_norm) {
  PlaneSpectrum result;
  result.values = spectra.values + p * spectra.plane_stride + spectra.first;
  result.step = spectra.step;
  result.are_roots = result.is_svd_of_a = spectra.are_roots;
  const double unscale = 1 / (spectra.is_scaled ? float16_scale(plane.sample_bytes) : plane.scale);
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
