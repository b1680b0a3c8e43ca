#include "codec/jpeg/color.hpp"
#include "codec/jpeg/fdct.hpp"
#include "codec/jpeg/idct.hpp"
#include "codec/jpeg/samples.hpp"
#include "compute/cuda/check.hpp"
#include "compute/cuda/codecs/jpeg_encoder_kernels.hpp"
#include "compute/cuda/codecs/jpeg_samples.cuh"
#include "compute/cuda/layout/warp.hpp"

namespace eckart::compute::cuda {
namespace {

namespace jpeg = codec::jpeg;

using jpeg::kBlockSide;
using jpeg::kBlockSize;

/// Each thread converts four samples of a row.
__global__ void __launch_bounds__(kJpegThreads)
    convert_pixels_kernel(const DeviceJpegOutputs jpegs) {
  constexpr int kSamples = int(sizeof(unsigned));
  const JpegOutput& image = jpegs.images[blockIdx.y];
  const jpeg::Layout layout = image.layout;
  const std::uint8_t* pixels = jpegs.pixels + image.pixels;
  auto* const samples = reinterpret_cast<unsigned*>(jpegs.samples + image.first_block * kBlockSize);
  const int groups = image.blocks * (kBlockSize / kSamples);
  for (int i = int(blockIdx.x) * kJpegThreads + int(threadIdx.x); i < groups;
       i += int(gridDim.x) * kJpegThreads) {
    const jpeg::SamplePlace place = layout.sample_place(i * kSamples);
    std::int32_t group[kSamples];
    for (int s = 0; s < kSamples; ++s)
      group[s] = sample_at(pixels, layout, place.channel, place.row, place.col + s);
    samples[i] = pack_samples(group);
  }
}

__global__ void __launch_bounds__(kJpegThreads)
    quantize_blocks_kernel(const DeviceJpegOutputs jpegs) {
  // A row has one element more than needed, so that rows and columns use all banks.
  __shared__ std::int32_t transformed[kTransformedBlocks][kBlockSide][kBlockSide + 1];
  const JpegOutput& image = jpegs.images[blockIdx.y];
  const jpeg::Layout layout = image.layout;
  std::uint8_t* samples = jpegs.samples + image.first_block * kBlockSize;
  std::int16_t* coefficients = jpegs.coefficients + image.first_block * kBlockSize;
  const int in_group = int(threadIdx.x) / kBlockSide, lane = int(threadIdx.x) % kBlockSide;
  auto& own = transformed[in_group];
  bool is_in_range = true;
  for (int first = int(blockIdx.x) * kTransformedBlocks; first < image.blocks;
       first += int(gridDim.x) * kTransformedBlocks) {
    const bool is_inside = first + in_group < image.blocks;
    const int block = is_inside ? first + in_group : image.blocks - 1;
    const jpeg::BlockPlace place = layout.place(block);
    std::uint8_t* const row = samples + place.first_sample + lane * place.stride;
    const int table = place.channel > 0 ? 1 : 0;
    std::int32_t values[kBlockSide];
    std::int16_t column[kBlockSide];
    std::uint16_t steps[kBlockSide];
    load_row(row, values);
    jpeg::forward_transform_row(values);
    for (int i = 0; i < kBlockSide; ++i) own[lane][i] = values[i];
    __syncwarp();
    for (int i = 0; i < kBlockSide; ++i) values[i] = own[i][lane];
    load_column(jpegs.tables->quantization[table] + lane * kBlockSide, steps);
    jpeg::forward_transform_column(values, steps,
                                   jpegs.tables->reciprocals[table] + lane * kBlockSide, column);
    if (!layout.has_pixels(block))
      for (std::int16_t& coefficient : column) coefficient = 0;
    if (is_inside)
      store_column(column, coefficients + std::int64_t(block) * kBlockSize + lane * kBlockSide);
    __syncwarp();
    if (jpegs.originals == nullptr) continue;
    bool is_valid = jpeg::transform_column(column, steps, values);
    for (int i = 0; i < kBlockSide; ++i) own[lane][i] = values[i];
    __syncwarp();
    for (int i = 0; i < kBlockSide; ++i) values[i] = own[i][lane];
    __syncwarp();
    is_valid &= jpeg::transform_row(values);
    if (!is_inside) continue;
    is_in_range &= is_valid;
    store_row(values, row);
  }
  if (!is_in_range) jpegs.scans[blockIdx.y].is_left_out = 1;
}

__global__ void __launch_bounds__(kJpegThreads)
    compare_pixels_kernel(const DeviceJpegOutputs jpegs) {
  const JpegOutput& image = jpegs.images[blockIdx.y];
  const jpeg::Layout layout = image.layout;
  const std::uint8_t* samples = jpegs.samples + image.first_block * kBlockSize;
  const std::uint8_t* original = jpegs.originals + image.original;
  const int count = layout.rows * layout.cols;
  unsigned long long sum = 0;
  for (int i = int(blockIdx.x) * kJpegThreads + int(threadIdx.x); i < count;
       i += int(gridDim.x) * kJpegThreads)
    sum += squared_error_of_pixel(samples, layout, i / layout.cols, i % layout.cols, original);
  for (int offset = kWarpSize / 2; offset > 0; offset /= 2)
    sum += __shfl_xor_sync(kAllLanes, sum, offset);
  if (threadIdx.x % kWarpSize == 0 && sum > 0)
    atomicAdd(&jpegs.scans[blockIdx.y].squared_error, sum);
}

}  // namespace

void convert_jpeg_pixels(const DeviceJpegOutputs& jpegs, int max_blocks, cudaStream_t stream) {
  const dim3 grid(jpeg_thread_blocks(std::int64_t(max_blocks) * kBlockSize / 4, kJpegThreads),
                  unsigned(jpegs.count));
  const dim3 block(kJpegThreads);
  convert_pixels_kernel<<<grid, block, 0, stream>>>(jpegs);
  check_launch("convert_pixels_kernel", grid, block);
}

void quantize_jpeg_blocks(const DeviceJpegOutputs& jpegs, int max_blocks, cudaStream_t stream) {
  const dim3 grid(jpeg_thread_blocks(max_blocks, kTransformedBlocks), unsigned(jpegs.count));
  const dim3 block(kJpegThreads);
  quantize_blocks_kernel<<<grid, block, 0, stream>>>(jpegs);
  check_launch("quantize_blocks_kernel", grid, block);
}

void compare_jpeg_pixels(const DeviceJpegOutputs& jpegs, int max_pixels, cudaStream_t stream) {
  if (jpegs.originals == nullptr) return;
  const dim3 grid(jpeg_thread_blocks(max_pixels, kJpegThreads), unsigned(jpegs.count));
  const dim3 block(kJpegThreads);
  compare_pixels_kernel<<<grid, block, 0, stream>>>(jpegs);
  check_launch("compare_pixels_kernel", grid, block);
}

}  // namespace eckart::compute::cuda
