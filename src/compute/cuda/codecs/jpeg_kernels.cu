#include "codec/jpeg/color.hpp"
#include "codec/jpeg/idct.hpp"
#include "codec/jpeg/scan.hpp"
#include "compute/cuda/check.hpp"
#include "compute/cuda/codecs/jpeg_kernels.hpp"
#include "compute/cuda/codecs/jpeg_samples.cuh"
#include "compute/cuda/layout/host_device.hpp"

namespace eckart::compute::cuda {
namespace {

using codec::jpeg::CodePosition;
using codec::jpeg::CodeSums;
using codec::jpeg::Irregularity;
using codec::jpeg::kBlockSide;
using codec::jpeg::kBlockSize;
using codec::jpeg::ScanSegment;

/// The value of the thread `distance` before, within groups of `width` threads.
template <typename Value>
__device__ Value shuffle_up(Value value, int distance, int width) {
  return __shfl_up_sync(kAllLanes, value, unsigned(distance), width);
}
__device__ CodePosition shuffle_up(const CodePosition& value, int distance, int width) {
  return {std::int64_t(shuffle_up((long long)(value.bit), distance, width)),
          shuffle_up(value.in_mcu, distance, width), shuffle_up(value.k, distance, width)};
}
__device__ CodeSums shuffle_up(const CodeSums& value, int distance, int width) {
  return {std::int64_t(shuffle_up((long long)(value.blocks), distance, width)),
          shuffle_up(value.y, distance, width), shuffle_up(value.cb, distance, width),
          shuffle_up(value.cr, distance, width)};
}

/// The sums of all segments before this one, within groups of `width` threads.
__device__ CodeSums sums_before(CodeSums sums, int lane, int width) {
  for (int distance = 1; distance < width; distance *= 2) {
    const CodeSums other = shuffle_up(sums, distance, width);
    if (lane >= distance) sums += other;
  }
  const CodeSums before = shuffle_up(sums, 1, width);
  return lane == 0 ? CodeSums{} : before;
}

/// decode_scan() of each image by `width` threads, a power of two. All threads of a warp take part
/// in every exchange, also those without a segment.
__global__ void decode_scans_kernel(const DeviceJpegs jpegs, int width) {
  const int thread = int(blockIdx.x) * kWarpSize + int(threadIdx.x);
  const int index = thread / width, lane = thread % width;
  const bool has_image = index < jpegs.count;
  const JpegImage& image = jpegs.images[has_image ? index : 0];
  const codec::jpeg::Layout layout = image.layout;
  const codec::jpeg::Tables& tables = jpegs.tables[image.tables];
  const codec::jpeg::ScanData data{jpegs.words + image.first_word, image.data_bytes};
  const int segments = has_image ? codec::jpeg::scan_segments(layout, data.bytes, width) : 0;
  const bool has_segment = lane < segments, has_next = lane + 1 < segments;

  ScanSegment segment = scan_segment(data, lane, segments == 0 ? 1 : segments);
  if (has_segment && lane > 0) guess_first_code(layout, tables, data, segment);
  if (has_next) add_up_segment(layout, tables, data, segment);
  for (;;) {  // with each pass, one segment more at least is right
    const CodePosition first = shuffle_up(segment.next, 1, width);
    const bool is_wrong = has_segment && lane > 0 && !(segment.first == first);
    if (__any_sync(kAllLanes, is_wrong) == 0) break;
    if (!is_wrong) continue;
    segment.first = first;
    if (has_next) add_up_segment(layout, tables, data, segment);
  }
  const CodeSums before = sums_before(segment.sums, lane, width);
  Irregularity found = Irregularity::none;
  if (has_segment) {
    found = decode_segment(layout, tables, data, segment, before,
                           jpegs.coefficients + image.first_block * kBlockSize);
  }
  const unsigned irregular = __ballot_sync(kAllLanes, found != Irregularity::none);
  const unsigned group = kAllLanes >> (kWarpSize - width);
  const unsigned of_image = irregular >> (int(threadIdx.x) - lane) & group;
  if (has_image && lane == (of_image == 0 ? 0 : __ffs(int(of_image)) - 1))
    jpegs.irregularity[index] = found;
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

void decode_jpeg_scans(const DeviceJpegs& jpegs, int threads_per_image, cudaStream_t stream) {
  const int images_per_warp = kWarpSize / threads_per_image;
  const dim3 grid(unsigned((jpegs.count + images_per_warp - 1) / images_per_warp));
  const dim3 block(kWarpSize);
  decode_scans_kernel<<<grid, block, 0, stream>>>(jpegs, threads_per_image);
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
