#include "codec/jpeg/color.hpp"
#include "codec/jpeg/idct.hpp"
#include "codec/jpeg/scan.hpp"
#include "compute/cuda/check.hpp"
#include "compute/cuda/codecs/jpeg_kernels.hpp"
#include "compute/cuda/codecs/jpeg_samples.cuh"
#include "compute/cuda/layout/host_device.hpp"

namespace eckart::compute::cuda {
namespace {

using codec::jpeg::Irregularity;
using codec::jpeg::kBlockSide;
using codec::jpeg::kBlockSize;

__global__ void decode_scans_kernel(const DeviceJpegs jpegs, int images_per_warp) {
  const int index = int(blockIdx.x) * images_per_warp + int(threadIdx.x);
  if (int(threadIdx.x) >= images_per_warp || index >= jpegs.count) return;
  const JpegImage& image = jpegs.images[index];
  jpegs.irregularity[index] = decode_scan(image.layout, jpegs.tables[image.tables],
                                          {jpegs.words + image.first_word, image.data_bytes},
                                          jpegs.coefficients + image.first_block * kBlockSize);
}

__global__ void __launch_bounds__(kJpegThreads) transform_blocks_kernel(const DeviceJpegs jpegs) {
  // A column has one element more than needed, so that rows and columns use all banks.
  __shared__ std::int32_t transformed[kTransformedBlocks][kBlockSide][kBlockSide + 1];
  if (jpegs.irregularity[blockIdx.y] != Irregularity::none) return;
  const JpegImage& image = jpegs.images[blockIdx.y];
  const codec::jpeg::Layout layout = image.layout;
  const std::int16_t* coefficients = jpegs.coefficients + image.first_block * kBlockSize;
  std::uint8_t* samples = jpegs.samples + image.first_block * kBlockSize;
  const int blocks = int(layout.blocks());
  const int in_group = int(threadIdx.x) / kBlockSide, lane = int(threadIdx.x) % kBlockSide;
  bool is_in_range = true;
  for (int first = int(blockIdx.x) * kTransformedBlocks; first < blocks;
       first += int(gridDim.x) * kTransformedBlocks) {
    const int block = smaller(first + in_group, blocks - 1);  // the last may be transformed twice
    const codec::jpeg::BlockPlace place = layout.place(block);
    std::int16_t column[kBlockSide];
    std::uint16_t steps[kBlockSide];
    std::int32_t values[kBlockSide];
    load_column(coefficients + block * kBlockSize + lane * kBlockSide, column);
    load_column(jpegs.tables[image.tables].quantization[place.channel] + lane * kBlockSide, steps);
    is_in_range &= codec::jpeg::transform_column(column, steps, values);
    for (int i = 0; i < kBlockSide; ++i) transformed[in_group][lane][i] = values[i];
    __syncwarp();
    for (int i = 0; i < kBlockSide; ++i) values[i] = transformed[in_group][i][lane];
    __syncwarp();
    is_in_range &= codec::jpeg::transform_row(values);
    store_row(values, samples + place.first_sample + lane * place.stride);
  }
  // Thread blocks that begin later leave the image out, or not: its pixels are not used.
  if (!is_in_range) jpegs.irregularity[blockIdx.y] = Irregularity::value;
}

__global__ void __launch_bounds__(kJpegThreads) write_pixels_kernel(const DeviceJpegs jpegs) {
  if (jpegs.irregularity[blockIdx.y] != Irregularity::none) return;
  const JpegImage& image = jpegs.images[blockIdx.y];
  const codec::jpeg::Layout layout = image.layout;
  const std::uint8_t* samples = jpegs.samples + image.first_block * kBlockSize;
  std::uint8_t* pixels = jpegs.pixels + image.first_pixel;
  const int count = layout.rows * layout.cols;
  for (int i = int(blockIdx.x) * kJpegThreads + int(threadIdx.x); i < count;
       i += int(gridDim.x) * kJpegThreads)
    write_pixel(samples, layout, i / layout.cols, i % layout.cols, pixels);
}

}  // namespace

void decode_jpeg_scans(const DeviceJpegs& jpegs, int images_per_warp, cudaStream_t stream) {
  const dim3 grid(unsigned((jpegs.count + images_per_warp - 1) / images_per_warp));
  const dim3 block(kWarpSize);
  decode_scans_kernel<<<grid, block, 0, stream>>>(jpegs, images_per_warp);
  check_launch("decode_scans_kernel", grid, block);
}

void transform_jpeg_blocks(const DeviceJpegs& jpegs, int max_blocks, cudaStream_t stream) {
  const dim3 grid(jpeg_thread_blocks(max_blocks, kTransformedBlocks), unsigned(jpegs.count));
  const dim3 block(kJpegThreads);
  transform_blocks_kernel<<<grid, block, 0, stream>>>(jpegs);
  check_launch("transform_blocks_kernel", grid, block);
}

void write_jpeg_pixels(const DeviceJpegs& jpegs, int max_pixels, cudaStream_t stream) {
  const dim3 grid(jpeg_thread_blocks(max_pixels, kJpegThreads), unsigned(jpegs.count));
  const dim3 block(kJpegThreads);
  write_pixels_kernel<<<grid, block, 0, stream>>>(jpegs);
  check_launch("write_pixels_kernel", grid, block);
}

}  // namespace eckart::compute::cuda
