#include "codec/jpeg/block_writer.hpp"
#include "compute/cuda/check.hpp"
#include "compute/cuda/codecs/block_sum.cuh"
#include "compute/cuda/codecs/jpeg_encoder_kernels.hpp"
#include "compute/cuda/codecs/jpeg_samples.cuh"
#include "compute/cuda/layout/host_device.hpp"

// The entropy-coded data of the JPEG encoder.
namespace eckart::compute::cuda {
namespace {

namespace jpeg = codec::jpeg;

using jpeg::kBlockSize;

/// Threads of a block that write the bits of a block of coefficients each.
constexpr int kWriters = 128;

/// The coefficients of kWriters blocks and the codes, in shared memory.
class StagedBlocks {
 public:
  /// Loads the blocks from `first` on.
  __device__ void load(const JpegOutput& image, const DeviceJpegOutputs& jpegs, int first) {
    constexpr int kQuads = kBlockSize / 8;  // loads of a block
    const auto* const from = reinterpret_cast<const uint4*>(
        jpegs.coefficients + (image.first_block + first) * kBlockSize);
    const int count = smaller(kWriters, image.blocks - first) * kQuads;
    for (int i = int(threadIdx.x); i < count; i += kWriters) {
      const uint4 quad = from[i];
      unsigned* const to = words_[i / kQuads] + i % kQuads * 4;
      to[0] = quad.x;
      to[1] = quad.y;
      to[2] = quad.z;
      to[3] = quad.w;
    }
    const auto* const codes = reinterpret_cast<const unsigned*>(&jpegs.tables->codes);
    for (int i = int(threadIdx.x); i < kCodeWords; i += kWriters) codes_[i] = codes[i];
    __syncthreads();
  }
  /// Writes the block of this thread, which is `block` of the image.
  template <class Bits>
  __device__ void write(const JpegOutput& image, const DeviceJpegOutputs& jpegs, int block,
                        Bits& bits) const {
    const std::int16_t* const all = jpegs.coefficients + image.first_block * kBlockSize;
    write_block(reinterpret_cast<const std::int16_t*>(words_[threadIdx.x]),
                dc_difference(image.layout, all, block),
                *reinterpret_cast<const jpeg::ScanCodes*>(codes_),
                image.layout.place(block).channel > 0, bits);
  }

 private:
  static constexpr int kCodeWords = int(sizeof(jpeg::ScanCodes) / sizeof(unsigned));
  static_assert(sizeof(jpeg::ScanCodes) % sizeof(unsigned) == 0);
  // A block has one word more than needed: the same coefficient of all blocks is in all banks.
  unsigned words_[kWriters][kBlockSize / 2 + 1];
  unsigned codes_[kCodeWords];
};

__global__ void __launch_bounds__(kWriters) count_bits_kernel(const DeviceJpegOutputs jpegs) {
  __shared__ StagedBlocks staged;
  const JpegOutput& image = jpegs.images[blockIdx.y];
  for (int first = int(blockIdx.x) * kWriters; first < image.blocks;
       first += int(gridDim.x) * kWriters) {
    staged.load(image, jpegs, first);
    const int block = first + int(threadIdx.x);
    if (block < image.blocks) {
      jpeg::BitCounter counter;
      staged.write(image, jpegs, block, counter);
      jpegs.bits[image.first_block + block] = counter.count;
    }
    __syncthreads();
  }
}

constexpr int kSumThreads = 1024;

/// Replaces each value by the sum of those before it. Returns the sum of all.
__device__ std::uint32_t replace_by_sums(std::uint32_t* values, int count) {
  std::uint32_t before = 0;
  for (int first = 0; first < count; first += kSumThreads) {
    const int i = first + int(threadIdx.x);
    std::uint32_t total = 0;
    const std::uint32_t own = i < count ? values[i] : 0;
    const std::uint32_t sum = before + sum_before<kSumThreads>(own, total);
    if (i < count) values[i] = sum;
    before += total;
  }
  return before;
}

__global__ void __launch_bounds__(kSumThreads) place_bits_kernel(const DeviceJpegOutputs jpegs) {
  const JpegOutput& image = jpegs.images[blockIdx.x];
  const std::uint32_t bits = replace_by_sums(jpegs.bits + image.first_block, image.blocks);
  if (threadIdx.x != 0) return;
  jpegs.scans[blockIdx.x].bits = bits;
  if (bits > image.max_bits()) jpegs.scans[blockIdx.x].is_left_out = 1;
}

__global__ void __launch_bounds__(kWriters) write_bits_kernel(const DeviceJpegOutputs jpegs) {
  __shared__ StagedBlocks staged;
  const JpegOutput& image = jpegs.images[blockIdx.y];
  const JpegScan& scan = jpegs.scans[blockIdx.y];
  if (scan.is_left_out != 0) return;
  for (int first = int(blockIdx.x) * kWriters; first < image.blocks;
       first += int(gridDim.x) * kWriters) {
    staged.load(image, jpegs, first);
    const int block = first + int(threadIdx.x);
    if (block < image.blocks) {
      jpeg::BitWriter writer(jpegs.words + image.first_word(),
                             jpegs.bits[image.first_block + block]);
      staged.write(image, jpegs, block, writer);
      if (block + 1 == image.blocks) fill_last_byte(scan.bits, writer);
      writer.finish();
    }
    __syncthreads();
  }
}

constexpr int kThreadWords = kJpegPieceBytes / 4 / kJpegThreads;  // of a piece
constexpr int kQuadBytes = int(sizeof(uint4));
static_assert(kThreadWords * 4 == kQuadBytes, "one load");

/// The four words of this thread in the piece of a block of threads. Bits behind the data are 0.
struct PieceWords {
  unsigned words[kThreadWords];

  __device__ PieceWords(const JpegOutput& image, const DeviceJpegOutputs& jpegs) {
    const std::int64_t first =
        std::int64_t(blockIdx.x) * (kJpegPieceBytes / 4) + std::int64_t(threadIdx.x) * kThreadWords;
    const uint4 quad = *reinterpret_cast<const uint4*>(jpegs.words + image.first_word() + first);
    words[0] = quad.x;
    words[1] = quad.y;
    words[2] = quad.z;
    words[3] = quad.w;
  }
  /// The number of bytes that a zero follows.
  __device__ std::uint32_t count_zeros() const {
    int bits = 0;
    for (const unsigned word : words) bits += __popc(int(__vcmpeq4(word, ~0U)));
    return std::uint32_t(bits) / 8;
  }
  __device__ std::uint8_t byte(int i) const {
    return std::uint8_t(words[i / 4] >> (24 - i % 4 * 8));
  }
};

/// Whether the piece of this block of threads has data.
__device__ bool has_piece(const JpegScan& scan) {
  return scan.is_left_out == 0 &&
         std::uint64_t(blockIdx.x) * kJpegPieceBytes < scan.unstuffed_bytes();
}

__global__ void __launch_bounds__(kJpegThreads) count_zeros_kernel(const DeviceJpegOutputs jpegs) {
  __shared__ std::uint32_t zeros;
  const JpegOutput& image = jpegs.images[blockIdx.y];
  if (!has_piece(jpegs.scans[blockIdx.y])) return;
  if (threadIdx.x == 0) zeros = 0;
  __syncthreads();
  if (const std::uint32_t own = PieceWords(image, jpegs).count_zeros(); own > 0)
    atomicAdd(&zeros, own);
  __syncthreads();
  if (threadIdx.x == 0) jpegs.zeros[image.first_piece + blockIdx.x] = zeros;
}

__global__ void __launch_bounds__(kSumThreads) place_zeros_kernel(const DeviceJpegOutputs jpegs) {
  const JpegOutput& image = jpegs.images[blockIdx.x];
  JpegScan& scan = jpegs.scans[blockIdx.x];
  if (scan.is_left_out != 0) return;
  const int pieces = int((scan.unstuffed_bytes() + kJpegPieceBytes - 1) / kJpegPieceBytes);
  const std::uint32_t zeros = replace_by_sums(jpegs.zeros + image.first_piece, pieces);
  if (threadIdx.x == 0) scan.stuffed_zeros = zeros;
}

__global__ void __launch_bounds__(kSumThreads)
    place_data_kernel(const DeviceJpegOutputs jpegs, std::int64_t capacity,
                      JpegData* __restrict__ data) {
  std::int64_t used = 0;
  for (int first = 0; first < jpegs.count; first += kSumThreads) {
    const int i = first + int(threadIdx.x);
    JpegScan scan{};
    if (i < jpegs.count) scan = jpegs.scans[i];
    const std::uint32_t bytes =
        scan.is_left_out != 0 ? 0 : scan.unstuffed_bytes() + scan.stuffed_zeros;
    std::int64_t total = 0;
    const std::int64_t aligned = (std::int64_t(bytes) + kQuadBytes - 1) / kQuadBytes * kQuadBytes;
    const std::int64_t at = used + sum_before<kSumThreads>(aligned, total);
    const bool fits = at + bytes <= capacity;
    if (i < jpegs.count) data[i] = {at, scan.squared_error, fits ? bytes : 0};
    used += total;
  }
}

/// Puts the bytes of a piece and its zeros together in shared memory, shifted as their destination
/// is, and copies them in words of 16 bytes.
__global__ void __launch_bounds__(kJpegThreads)
    write_data_kernel(const DeviceJpegOutputs jpegs, const JpegData* __restrict__ data,
                      std::uint8_t* __restrict__ out) {
  __shared__ alignas(kQuadBytes) std::uint8_t staged[2 * kJpegPieceBytes + kQuadBytes];
  const JpegOutput& image = jpegs.images[blockIdx.y];
  const JpegScan& scan = jpegs.scans[blockIdx.y];
  const JpegData place = data[blockIdx.y];
  if (!has_piece(scan) || place.bytes == 0) return;
  const std::uint32_t begin = blockIdx.x * kJpegPieceBytes;
  const int bytes = smaller(kJpegPieceBytes, int(scan.unstuffed_bytes() - begin));
  std::uint8_t* const to = out + place.offset + begin + jpegs.zeros[image.first_piece + blockIdx.x];
  const int shift = int(reinterpret_cast<std::uintptr_t>(to) % kQuadBytes);

  const PieceWords words(image, jpegs);
  std::uint32_t zeros = 0;
  const int first = int(threadIdx.x) * kQuadBytes;
  int at = shift + first + int(sum_before<kJpegThreads>(words.count_zeros(), zeros));
  for (int i = 0; i < kQuadBytes; ++i) {  // unrolled: the words stay in registers
    if (first + i >= bytes) break;
    const std::uint8_t byte = words.byte(i);
    staged[at++] = byte;
    if (byte == 0xFF) staged[at++] = 0;
  }
  __syncthreads();

  const int end = shift + bytes + int(zeros);
  std::uint8_t* const aligned = to - shift;
  const int first_quad = shift > 0 ? 1 : 0, last_quad = end / kQuadBytes;
  for (int quad = first_quad + int(threadIdx.x); quad < last_quad; quad += kJpegThreads)
    reinterpret_cast<uint4*>(aligned)[quad] = reinterpret_cast<const uint4*>(staged)[quad];
  // The bytes before and after.
  const int head_end = smaller(first_quad * kQuadBytes, end);
  const int tail = larger(last_quad, first_quad) * kQuadBytes;
  if (const int i = shift + int(threadIdx.x); i < head_end) aligned[i] = staged[i];
  if (const int i = tail + int(threadIdx.x); i < end) aligned[i] = staged[i];
}

}  // namespace

void write_jpeg_bits(const DeviceJpegOutputs& jpegs, int max_blocks, cudaStream_t stream) {
  const dim3 grid(jpeg_thread_blocks(max_blocks, kWriters), unsigned(jpegs.count));
  const dim3 block(kWriters), images(unsigned(jpegs.count)), sum_block(kSumThreads);
  count_bits_kernel<<<grid, block, 0, stream>>>(jpegs);
  check_launch("count_bits_kernel", grid, block);
  place_bits_kernel<<<images, sum_block, 0, stream>>>(jpegs);
  check_launch("place_bits_kernel", images, sum_block);
  write_bits_kernel<<<grid, block, 0, stream>>>(jpegs);
  check_launch("write_bits_kernel", grid, block);
}

void write_jpeg_data(const DeviceJpegOutputs& jpegs, int max_pieces, std::int64_t capacity,
                     JpegData* data, std::uint8_t* out, cudaStream_t stream) {
  const dim3 grid{unsigned(max_pieces), unsigned(jpegs.count)};
  const dim3 block(kJpegThreads), images(unsigned(jpegs.count)), sum_block(kSumThreads), one(1);
  count_zeros_kernel<<<grid, block, 0, stream>>>(jpegs);
  check_launch("count_zeros_kernel", grid, block);
  place_zeros_kernel<<<images, sum_block, 0, stream>>>(jpegs);
  check_launch("place_zeros_kernel", images, sum_block);
  place_data_kernel<<<one, sum_block, 0, stream>>>(jpegs, capacity, data);
  check_launch("place_data_kernel", one, sum_block);
  write_data_kernel<<<grid, block, 0, stream>>>(jpegs, data, out);
  check_launch("write_data_kernel", grid, block);
}

}  // namespace eckart::compute::cuda
