#include <algorithm>

#include "codec/jpeg/color.hpp"
#include "codec/jpeg/idct.hpp"
#include "codec/jpeg/scan.hpp"
#include "compute/cuda/check.hpp"
#include "compute/cuda/codecs/jpeg_kernels.hpp"
#include "compute/cuda/layout/host_device.hpp"

namespace eckart::compute::cuda {
namespace {

using codec::jpeg::Irregularity;
using codec::jpeg::kBlockSide;
using codec::jpeg::kBlockSize;

constexpr int kThreads = 256;
constexpr int kJpegBlocks = kThreads / kBlockSide;  // of a thread block
constexpr int kMaxGrid = 4096;                      // thread blocks of an image

int thread_blocks(int items, int items_per_block) {
  return std::clamp((items + items_per_block - 1) / items_per_block, 1, kMaxGrid);
}

__global__ void decode_scans_kernel(const DeviceJpegs jpegs, int images_per_warp) {
  const int index = int(blockIdx.x) * images_per_warp + int(threadIdx.x);
  if (int(threadIdx.x) >= images_per_warp || index >= jpegs.count) return;
  const JpegImage& image = jpegs.images[index];
  jpegs.irregularity[index] = decode_scan(image.layout, jpegs.tables[image.tables],
                                          {jpegs.words + image.first_word, image.data_bytes},
                                          jpegs.coefficients + image.first_block * kBlockSize);
}

/// Copies 8 values of 16 bits at once.
template <class T>
__device__ void load_column(const T* from, T (&to)[kBlockSide]) {
  const uint4 column = *reinterpret_cast<const uint4*>(from);
  const unsigned words[4] = {column.x, column.y, column.z, column.w};
  for (int i = 0; i < kBlockSide; ++i) to[i] = T(words[i / 2] >> (i % 2 * 16));
}

__device__ void store_row(const std::int32_t (&row)[kBlockSide], std::uint8_t* to) {
  const auto pack = [&](int i) {
    return unsigned(row[i]) | unsigned(row[i + 1]) << 8 | unsigned(row[i + 2]) << 16 |
           unsigned(row[i + 3]) << 24;
  };
  *reinterpret_cast<uint2*>(to) = make_uint2(pack(0), pack(4));
}

__global__ void __launch_bounds__(kThreads) transform_blocks_kernel(const DeviceJpegs jpegs) {
  // A column has one element more than needed, so that rows and columns use all banks.
  __shared__ std::int32_t transformed[kJpegBlocks][kBlockSide][kBlockSide + 1];
  if (jpegs.irregularity[blockIdx.y] != Irregularity::none) return;
  const JpegImage& image = jpegs.images[blockIdx.y];
  const codec::jpeg::Layout layout = image.layout;
  const std::int16_t* coefficients = jpegs.coefficients + image.first_block * kBlockSize;
  std::uint8_t* samples = jpegs.samples + image.first_block * kBlockSize;
  const int blocks = int(layout.blocks());
  const int in_group = int(threadIdx.x) / kBlockSide, lane = int(threadIdx.x) % kBlockSide;
  bool is_in_range = true;
  for (int first = int(blockIdx.x) * kJpegBlocks; first < blocks;
       first += int(gridDim.x) * kJpegBlocks) {
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

__global__ void __launch_bounds__(kThreads) write_pixels_kernel(const DeviceJpegs jpegs) {
  if (jpegs.irregularity[blockIdx.y] != Irregularity::none) return;
  const JpegImage& image = jpegs.images[blockIdx.y];
  const codec::jpeg::Layout layout = image.layout;
  const std::uint8_t* samples = jpegs.samples + image.first_block * kBlockSize;
  std::uint8_t* pixels = jpegs.pixels + image.first_pixel;
  const int count = layout.rows * layout.cols;
  for (int i = int(blockIdx.x) * kThreads + int(threadIdx.x); i < count;
       i += int(gridDim.x) * kThreads)
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
  const dim3 grid(unsigned(thread_blocks(max_blocks, kJpegBlocks)), unsigned(jpegs.count));
  const dim3 block(kThreads);
  transform_blocks_kernel<<<grid, block, 0, stream>>>(jpegs);
  check_launch("transform_blocks_kernel", grid, block);
}

void write_jpeg_pixels(const DeviceJpegs& jpegs, int max_pixels, cudaStream_t stream) {
  const dim3 grid(unsigned(thread_blocks(max_pixels, kThreads)), unsigned(jpegs.count));
  const dim3 block(kThreads);
  write_pixels_kernel<<<grid, block, 0, stream>>>(jpegs);
  check_launch("write_pixels_kernel", grid, block);
}

}  // namespace eckart::compute::cuda
