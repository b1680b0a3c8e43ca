#include "codec/png/filter.hpp"
#include "codec/png/inflate.hpp"
#include "compute/cuda/check.hpp"
#include "compute/cuda/codecs/device_warp.cuh"
#include "compute/cuda/codecs/png_decoder_kernels.hpp"
#include "compute/cuda/layout/host_device.hpp"
#include "compute/cuda/layout/warp.hpp"

namespace eckart::compute::cuda {
namespace {

using codec::png::Filter;
using codec::png::Irregularity;

__global__ void __launch_bounds__(kWarpSize) inflate_pngs_kernel(const DevicePngInputs pngs) {
  __shared__ codec::png::InflateMemory memory;
  const PngInputImage image = pngs.images[blockIdx.x];
  DeviceWarp warp(int(threadIdx.x));
  const Irregularity found = codec::png::inflate(
      warp, {pngs.words + image.first_word, image.stream_bytes},
      {pngs.rows + image.first_row_byte, image.rows, image.cols * image.channels + 1}, memory);
  if (threadIdx.x == 0) pngs.irregularity[blockIdx.x] = found;
}

/// All predictions are made, because the rows of a warp have different filters.
__device__ int predict(Filter filter, int left, int above, int above_left) {
  const int paeth =
      codec::png::predict_paeth(std::int16_t(left), std::int16_t(above), std::int16_t(above_left));
  const int average = (left + above) / 2;
  int prediction = filter == Filter::sub ? left : 0;
  if (filter == Filter::up) prediction = above;
  if (filter == Filter::average) prediction = average;
  if (filter == Filter::paeth) prediction = paeth;
  return prediction;
}

/// Consecutive pixels of a row, as words of 4 bytes.
template <int kChannels>
struct PixelGroup {
  static constexpr int kGroupPixels = 4;
  static constexpr int kBytes = kGroupPixels * kChannels;
  std::uint32_t words[kChannels]{};

  __device__ int byte(int i) const { return int(words[i / 4] >> (i % 4 * 8) & 255); }
  __device__ void set_byte(int i, int value) {
    words[i / 4] |= std::uint32_t(value) << (i % 4 * 8);
  }
};

/// Reads a group from `offset` on. Bytes after `size`, at the end of the row, have any value.
template <int kChannels>
__device__ PixelGroup<kChannels> load_filtered(const std::uint8_t* bytes, int offset, int size) {
  const auto* const words = reinterpret_cast<const std::uint32_t*>(bytes);
  const int first = offset / 4, last = (size - 1) / 4, shift = offset % 4 * 8;
  PixelGroup<kChannels> group;
  std::uint32_t word = words[first];
  for (int i = 0; i < kChannels; ++i) {
    const std::uint32_t next = words[smaller(first + i + 1, last)];
    group.words[i] = __funnelshift_r(word, next, unsigned(shift));
    word = next;
  }
  return group;
}

/// Reads a group from a row of `size` bytes; zeros after it.
template <int kChannels>
__device__ PixelGroup<kChannels> load_pixels(const std::uint8_t* row, int offset, int size) {
  PixelGroup<kChannels> group;
  for (int i = 0; i < PixelGroup<kChannels>::kBytes; ++i)
    if (offset + i < size) group.set_byte(i, row[offset + i]);
  return group;
}

/// Unfilters kWarpSize rows from `first` on, a row by each thread. A pixel depends on its left
/// neighbor and on the row above. So each thread is a group of pixels behind the thread of the row
/// above: a step after that has made a group, it is passed on by a shuffle. What a step needs from
/// memory is read a step before.
template <int kChannels>
__device__ void unfilter_rows(const PngInputImage& image, int first, const std::uint8_t* filtered,
                              std::uint8_t* pixels) {
  using Group = PixelGroup<kChannels>;
  const int lane = int(threadIdx.x), row = first + lane, row_bytes = image.cols * kChannels;
  const int groups = (image.cols + Group::kGroupPixels - 1) / Group::kGroupPixels;
  const bool has_row = row < image.rows, reads_above = lane == 0 && first > 0;
  const int begin = (has_row ? row : 0) * (row_bytes + 1) + 1;  // in the filtered bytes
  const int filtered_bytes = image.rows * (row_bytes + 1);
  const Filter filter{filtered[begin - 1]};
  std::uint8_t* const to = pixels + std::int64_t(row) * row_bytes;
  const std::uint8_t* const row_above = to - row_bytes;
  Group next = load_filtered<kChannels>(filtered, begin, filtered_bytes), next_above, made;
  if (reads_above) next_above = load_pixels<kChannels>(row_above, 0, row_bytes);
  int left[kChannels]{}, above_left[kChannels]{};
  for (int step = 0; step < groups + kWarpSize - 1; ++step) {
    Group above;
    for (int i = 0; i < kChannels; ++i)
      above.words[i] = __shfl_up_sync(kAllLanes, made.words[i], 1);
    const int group = step - lane;
    if (!has_row || group < 0 || group >= groups) continue;
    const Group from = next;
    if (lane == 0) above = next_above;
    if (group + 1 < groups) {
      const int offset = (group + 1) * Group::kBytes;
      next = load_filtered<kChannels>(filtered, begin + offset, filtered_bytes);
      if (reads_above) next_above = load_pixels<kChannels>(row_above, offset, row_bytes);
    }
    made = {};
    const int offset = group * Group::kBytes;
    for (int i = 0; i < Group::kBytes; ++i) {
      const int c = i % kChannels, up = above.byte(i);
      left[c] = (from.byte(i) + predict(filter, left[c], up, above_left[c])) & 255;
      above_left[c] = up;
      made.set_byte(i, left[c]);
      if (offset + i < row_bytes) to[offset + i] = std::uint8_t(left[c]);
    }
  }
  __syncwarp();  // the next rows read the last of these
}

template <int kChannels>
__device__ void unfilter_image(const DevicePngInputs& pngs, const PngInputImage& image) {
  for (int first = 0; first < image.rows; first += kWarpSize)
    unfilter_rows<kChannels>(image, first, pngs.rows + image.first_row_byte,
                             pngs.pixels + image.first_pixel);
}

__global__ void __launch_bounds__(kWarpSize) unfilter_pngs_kernel(const DevicePngInputs pngs) {
  if (pngs.irregularity[blockIdx.x] != Irregularity::none) return;
  const PngInputImage image = pngs.images[blockIdx.x];
  if (image.channels == 1) {
    unfilter_image<1>(pngs, image);
  } else {
    unfilter_image<3>(pngs, image);
  }
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
