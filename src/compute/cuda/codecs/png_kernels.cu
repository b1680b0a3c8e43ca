#include "codec/png/filter.hpp"
#include "compute/cuda/check.hpp"
#include "compute/cuda/codecs/block_sum.cuh"
#include "compute/cuda/codecs/png_kernels.hpp"
#include "compute/cuda/layout/warp.hpp"

namespace eckart::compute::cuda {
namespace {

namespace png = codec::png;

constexpr int kThreads = 256, kWarps = kThreads / kWarpSize;
/// Positions of a block are processed as words: one position for each lane of a warp.
constexpr int kWords = int(png::kBlockBytes) / kWarpSize, kThreadWords = kWords / kThreads;

/// The threads of a warp, for choose_code_lengths().
struct WarpThreads {
  static constexpr int kCount = kWarpSize;
  int lane;
  __device__ int index() const { return lane; }
  __device__ std::uint32_t sum(std::uint32_t x) const {
    for (int offset = kWarpSize / 2; offset > 0; offset /= 2)
      x += __shfl_xor_sync(kAllLanes, x, offset);
    return x;
  }
  __device__ void sync() const { __syncwarp(); }
};

/// The shared memory of a block of threads.
struct Shared {
  std::uint32_t equal[kWords];  ///< for each byte a bit: whether it equals the byte before it
  /// For each word: the last byte before it that differs from the byte before, and the first one
  /// behind it; 0: none, the size of the piece.
  std::uint16_t differs_before[kWords], differs_behind[kWords];
  std::uint32_t counts[kWarps][png::kDeflateSymbols];
  std::uint32_t total[png::kDeflateSymbols];
  png::BlockCode code;
  png::HeaderScratch scratch;
  std::uint32_t header[(png::kMaxHeaderBytes + 3) / 4 + 1];
  std::uint32_t header_bits;
  std::uint32_t staged[kWarps][kWarpSize + 1];  ///< words of the stream that are not complete
  std::uint32_t warp_bits[kWarps];
  int warp_last[kWarps], warp_first[kWarps];
  unsigned long long warp_sum[kWarps], warp_weighted[kWarps];
  std::uint32_t crc_table[4][256];
  std::uint32_t remainders[kThreads], last_remainder;
};

/// The filtered bytes of an image, in the order of the file.
class FilteredBytes {
 public:
  /// Begins at position `begin` of the filtered rows.
  __device__ FilteredBytes(const PngImage& image, const std::byte* pixels, std::int64_t begin)
      : image_(image),
        row_(begin / image.filtered_row_bytes()),
        x_(begin % image.filtered_row_bytes()) {
    row_bytes_ =
        reinterpret_cast<const std::uint8_t*>(pixels) + image.pixels + row_ * image.row_bytes;
    swap_ = image.sample_bytes == 2 ? 1 : 0;
  }
  __device__ void advance(int count) {
    x_ += count;
    while (x_ >= image_.filtered_row_bytes()) {
      x_ -= image_.filtered_row_bytes();
      ++row_;
      row_bytes_ += image_.row_bytes;
    }
  }
  __device__ std::uint8_t value() const {
    if (x_ == 0) return std::uint8_t(png::Filter::paeth);
    const std::int64_t i = x_ - 1, left = i - image_.pixel_bytes;
    const std::uint8_t* const above = row_bytes_ - image_.row_bytes;
    const bool has_left = left >= 0, has_above = row_ > 0;
    return std::uint8_t(row_bytes_[i ^ swap_] -
                        png::predict_paeth(has_left ? row_bytes_[left ^ swap_] : 0,
                                           has_above ? above[i ^ swap_] : 0,
                                           has_left && has_above ? above[left ^ swap_] : 0));
  }

 private:
  const PngImage& image_;
  std::int64_t row_, x_;
  const std::uint8_t* row_bytes_;
  int swap_;  // 1: samples of 16 bits have their lower byte first
};

/// The words of a piece that a warp processes.
struct WordRange {
  int begin, end;
};
__device__ WordRange words_of_warp(std::uint32_t size, int warp) {
  const int words = int((size + kWarpSize - 1) / kWarpSize), each = (words + kWarps - 1) / kWarps;
  return {min(words, warp * each), min(words, (warp + 1) * each)};
}

/// Filters the piece into `filtered`, and finds the bytes that equal the byte before.
__device__ void filter(const PngImage& image, const PngPiece& piece, const std::byte* pixels,
                       std::uint8_t* filtered, Shared& shared) {
  const int lane = int(threadIdx.x) % kWarpSize, warp = int(threadIdx.x) / kWarpSize;
  const WordRange words = words_of_warp(piece.size, warp);
  unsigned long long sum = 0, weighted = 0;
  if (words.begin < words.end) {
    FilteredBytes bytes(image, pixels, piece.begin + words.begin * kWarpSize + lane);
    int before = 0;  // the last byte of the previous word
    if (words.begin > 0)
      before = FilteredBytes(image, pixels, piece.begin + words.begin * kWarpSize - 1).value();
    for (int w = words.begin; w < words.end; ++w) {
      const auto position = std::uint32_t(w * kWarpSize + lane);
      const bool is_inside = position < piece.size;
      const int value = is_inside ? bytes.value() : 0;
      const int neighbor = __shfl_up_sync(kAllLanes, value, 1);
      const bool is_equal = is_inside && position > 0 && value == (lane == 0 ? before : neighbor);
      const unsigned equal = __ballot_sync(kAllLanes, is_equal);
      before = __shfl_sync(kAllLanes, value, kWarpSize - 1);
      if (is_inside) {
        filtered[position] = std::uint8_t(value);
        sum += unsigned(value);
        weighted += std::uint64_t(piece.size - position) * unsigned(value);
      }
      if (lane == 0) shared.equal[w] = equal;
      bytes.advance(kWarpSize);
    }
  }
  for (int offset = kWarpSize / 2; offset > 0; offset /= 2) {
    sum += __shfl_xor_sync(kAllLanes, sum, offset);
    weighted += __shfl_xor_sync(kAllLanes, weighted, offset);
  }
  if (lane == 0) {
    shared.warp_sum[warp] = sum;
    shared.warp_weighted[warp] = weighted;
  }
}

/// Sets differs_before and differs_behind of all words.
__device__ void find_differences(std::uint32_t size, Shared& shared) {
  const int lane = int(threadIdx.x) % kWarpSize, warp = int(threadIdx.x) / kWarpSize;
  const int words = int((size + kWarpSize - 1) / kWarpSize),
            first_word = int(threadIdx.x) * kThreadWords;
  const int none = int(size);
  const auto last_in = [&](int w) {  // the last byte of a word that differs; -1: none
    const unsigned differs = ~shared.equal[w];
    return differs == 0 ? -1 : w * kWarpSize + kWarpSize - 1 - __clz(int(differs));
  };
  const auto first_in = [&](int w) {
    const unsigned differs = ~shared.equal[w];
    return differs == 0 ? none : w * kWarpSize + __ffs(int(differs)) - 1;
  };
  int last = -1, first = none;  // of the words of this thread
  for (int i = 0; i < kThreadWords && first_word + i < words; ++i) {
    last = max(last, last_in(first_word + i));
    first = min(first, first_in(first_word + i));
  }
  for (int offset = 1; offset < kWarpSize; offset *= 2) {
    const int lower = __shfl_up_sync(kAllLanes, last, offset);
    const int higher = __shfl_down_sync(kAllLanes, first, offset);
    if (lane >= offset) last = max(last, lower);
    if (lane + offset < kWarpSize) first = min(first, higher);
  }
  if (lane == kWarpSize - 1) shared.warp_last[warp] = last;
  if (lane == 0) shared.warp_first[warp] = first;
  int before = __shfl_up_sync(kAllLanes, last, 1), behind = __shfl_down_sync(kAllLanes, first, 1);
  if (lane == 0) before = -1;
  if (lane == kWarpSize - 1) behind = none;
  __syncthreads();
  for (int w = 0; w < warp; ++w) before = max(before, shared.warp_last[w]);
  for (int w = warp + 1; w < kWarps; ++w) behind = min(behind, shared.warp_first[w]);
  for (int i = 0; i < kThreadWords && first_word + i < words; ++i) {
    shared.differs_before[first_word + i] = std::uint16_t(max(before, 0));
    before = max(before, last_in(first_word + i));
  }
  for (int w = min(words, first_word + kThreadWords) - 1; w >= first_word; --w) {
    shared.differs_behind[w] = std::uint16_t(behind >= none ? 0 : behind);
    behind = min(behind, first_in(w));
  }
}

/// What stands for a byte in the stream: a literal, a match that begins with it, or nothing,
/// because it is inside of a match.
struct Token {
  int symbol;  ///< -1: nothing
  int length;  ///< of a match; 0: a literal
};

__device__ Token token_at(std::uint32_t position, std::uint8_t value, std::uint32_t size,
                          const Shared& shared) {
  if (position >= size) return {-1, 0};
  const int word = int(position / kWarpSize), bit = int(position % kWarpSize);
  const unsigned equal = shared.equal[word];
  if ((equal >> bit & 1) == 0) return {value, 0};
  const unsigned up_to = bit == kWarpSize - 1 ? kAllLanes : (2U << bit) - 1;  // the bits 0 to `bit`
  const unsigned before = ~equal & up_to, behind = ~equal & ~up_to;
  const int run = 1 + (before != 0 ? word * kWarpSize + kWarpSize - 1 - __clz(int(before))
                                   : int(shared.differs_before[word]));
  int end =
      behind != 0 ? word * kWarpSize + __ffs(int(behind)) - 1 : int(shared.differs_behind[word]);
  if (end == 0 || end > int(size)) end = int(size);
  const int begin = run + (int(position) - run) / png::kMaxMatch * png::kMaxMatch;
  const int length = min(png::kMaxMatch, end - begin);
  if (length < png::kMinMatch) return {value, 0};
  if (int(position) != begin) return {-1, 0};
  return {png::length_symbol(length).symbol, length};
}

/// Counts the symbols of the words of each warp.
__device__ void count_symbols(const PngPiece& piece, const std::uint8_t* filtered, Shared& shared) {
  const int lane = int(threadIdx.x) % kWarpSize, warp = int(threadIdx.x) / kWarpSize;
  std::uint32_t* const counts = shared.counts[warp];
  const WordRange words = words_of_warp(piece.size, warp);
  std::uint32_t zeros = 0;  // residuals of 0 are so frequent that atomics would wait for each other
  for (int w = words.begin; w < words.end; ++w) {
    const auto position = std::uint32_t(w * kWarpSize + lane);
    const Token token =
        token_at(position, position < piece.size ? filtered[position] : 0, piece.size, shared);
    zeros += unsigned(__popc(int(__ballot_sync(kAllLanes, token.symbol == 0))));
    if (token.symbol > 0) atomicAdd(&counts[token.symbol], 1U);
  }
  if (lane == 0 && zeros > 0) atomicAdd(&counts[0], zeros);
}

/// The bits of a symbol with what follows it.
__device__ std::uint32_t bits_of(int symbol, const png::BlockCode& code) {
  const std::uint32_t extra = symbol < 265 || symbol == 285 ? 0 : std::uint32_t(symbol - 261) / 4;
  return code.lengths[symbol] + extra +
         std::uint32_t(symbol > png::kEndOfBlock ? png::kDistanceBits : 0);
}

/// Makes the code and the header of the block, and the bits of the words of each warp.
__device__ void make_code(const PngPiece& piece, Shared& shared) {
  const int lane = int(threadIdx.x) % kWarpSize, warp = int(threadIdx.x) / kWarpSize;
  for (int s = int(threadIdx.x); s < png::kDeflateSymbols; s += kThreads) {
    std::uint32_t total = s == png::kEndOfBlock ? 1 : 0;
    for (int w = 0; w < kWarps; ++w) total += shared.counts[w][s];
    shared.total[s] = total;
  }
  __syncthreads();
  if (warp == 0) {
    png::choose_code_lengths(shared.total, png::kDeflateSymbols, png::kMaxCodeBits,
                             shared.code.lengths, shared.scratch.length_scratch, WarpThreads{lane});
    if (lane == 0) {
      png::assign_codes(shared.code.lengths, png::kDeflateSymbols, shared.code.codes);
      auto* const header = reinterpret_cast<std::uint8_t*>(shared.header);
      png::BitWriter bits(header);
      png::write_block_header(shared.code, piece.is_last, shared.scratch, bits);
      shared.header_bits = bits.bits_since(header);
      for (std::uint8_t* end = bits.align(); (end - header) % 4 != 0; ++end) *end = 0;
    }
  }
  __syncthreads();
  std::uint32_t bits = 0;
  for (int s = lane; s < png::kDeflateSymbols; s += kWarpSize)
    bits += shared.counts[warp][s] * bits_of(s, shared.code);
  bits = WarpThreads{lane}.sum(bits);
  if (lane == 0) shared.warp_bits[warp] = bits;
}

/// Where the words of each warp begin in the stream, and where the stream ends, in bits.
struct Placement {
  std::uint32_t begin, end;
  std::uint32_t bytes;  ///< of the block, with what follows its code
};
__device__ Placement place(const PngPiece& piece, int warp, const Shared& shared) {
  Placement placement{shared.header_bits, shared.header_bits, 0};
  for (int w = 0; w < kWarps; ++w) {
    if (w == warp) placement.begin = placement.end;
    placement.end += shared.warp_bits[w];
  }
  const std::uint32_t last = placement.end + shared.code.lengths[png::kEndOfBlock] +
                             std::uint32_t(piece.is_last ? 0 : png::kSyncBits);
  placement.bytes = (last + 7) / 8 + std::uint32_t(piece.is_last ? 0 : png::kSyncBytes);
  return placement;
}

__device__ void or_bits(std::uint32_t* words, std::uint32_t at, std::uint32_t bits) {
  const std::uint32_t shift = at % kWarpSize;
  atomicOr(&words[at / kWarpSize], bits << shift);
  if (shift > 0 && bits >> (kWarpSize - shift) != 0)
    atomicOr(&words[at / kWarpSize + 1], bits >> (kWarpSize - shift));
}

/// Writes the header, and zeros into all words that several warps write.
__device__ void begin_stream(const Placement& placement, int lane, std::uint32_t* words,
                             const Shared& shared) {
  const int header_words = int(shared.header_bits / kWarpSize);
  for (int w = int(threadIdx.x); w < header_words; w += kThreads) words[w] = shared.header[w];
  if (lane == 0) words[placement.begin / kWarpSize] = 0;
  const std::uint32_t end = placement.bytes / 4 + 1;
  for (std::uint32_t w = placement.end / kWarpSize + threadIdx.x; w <= end; w += kThreads)
    words[w] = 0;
}

/// Writes the codes of the words of each warp.
__device__ void write_codes(const PngPiece& piece, const Placement& placement,
                            const std::uint8_t* filtered, std::uint32_t* words, Shared& shared) {
  const int lane = int(threadIdx.x) % kWarpSize, warp = int(threadIdx.x) / kWarpSize;
  const WordRange range = words_of_warp(piece.size, warp);
  std::uint32_t* const staged = shared.staged[warp];
  staged[lane] = 0;
  __syncwarp();
  std::uint32_t* to = words + placement.begin / kWarpSize;
  std::uint32_t used = placement.begin % kWarpSize;  // bits of the first staged word
  bool is_shared = true;                             // the first word may have bits of others
  for (int w = range.begin; w < range.end; ++w) {
    const auto position = std::uint32_t(w * kWarpSize + lane);
    const Token token =
        token_at(position, position < piece.size ? filtered[position] : 0, piece.size, shared);
    std::uint32_t bits = 0, count = 0;
    if (token.symbol >= 0) {
      bits = shared.code.codes[token.symbol];
      count = shared.code.lengths[token.symbol];
      if (token.length > 0) {
        const png::LengthSymbol symbol = png::length_symbol(token.length);
        bits |= symbol.extra << count;
        count += std::uint32_t(symbol.extra_bits) + png::kDistanceBits;  // the bit is 0
      }
    }
    std::uint32_t end = count;
    for (int offset = 1; offset < kWarpSize; offset *= 2) {
      const std::uint32_t lower = __shfl_up_sync(kAllLanes, end, offset);
      if (lane >= offset) end += lower;
    }
    const std::uint32_t total = used + __shfl_sync(kAllLanes, end, kWarpSize - 1);
    if (count > 0) or_bits(staged, used + end - count, bits);
    __syncwarp();
    const auto complete = int(total / kWarpSize);
    const std::uint32_t word = staged[lane], rest = staged[complete];
    __syncwarp();
    if (lane < complete) {
      if (is_shared && lane == 0) {
        atomicOr(&to[0], word);
      } else {
        to[lane] = word;
      }
    }
    staged[lane] = lane == 0 ? rest : 0;
    __syncwarp();
    if (complete > 0) is_shared = false;
    to += complete;
    used = total % kWarpSize;
  }
  if (lane == 0 && used > 0 && staged[0] != 0) atomicOr(&to[0], staged[0]);
}

__device__ void end_stream(const PngPiece& piece, const Placement& placement, std::uint32_t* words,
                           const Shared& shared) {
  if (threadIdx.x != 0) return;
  if (shared.header_bits % kWarpSize != 0)
    atomicOr(&words[shared.header_bits / kWarpSize], shared.header[shared.header_bits / kWarpSize]);
  or_bits(words, placement.end, shared.code.codes[png::kEndOfBlock]);
  if (!piece.is_last) or_bits(words, 8 * (placement.bytes - 2), 0xFFFF);  // of the kSyncBytes
}

/// The tables of the CRC of four bytes at a time.
__device__ void make_crc_tables(Shared& shared) {
  shared.crc_table[0][threadIdx.x] = png::crc_append(0, std::uint8_t(threadIdx.x));
  __syncthreads();
  for (int i = 1; i < 4; ++i) {
    const std::uint32_t before = shared.crc_table[i - 1][threadIdx.x];
    shared.crc_table[i][threadIdx.x] = (before >> 8) ^ shared.crc_table[0][before & 0xFF];
  }
}
static_assert(kThreads == 256, "a thread for each entry of a table");

/// The remainder of the block, in thread 0. Each thread has as many bytes of it, the last one what
/// is left.
__device__ std::uint32_t crc_remainder(const std::uint32_t* words, std::uint32_t bytes,
                                       Shared& shared) {
  const std::uint32_t each = (bytes / kThreads + 4) / 4 * 4;  // so there is a thread for the rest
  const std::uint32_t full = bytes / each, rest = bytes % each, thread = threadIdx.x;
  const std::uint32_t own = thread < full ? each : thread == full ? rest : 0;
  const auto* const table = shared.crc_table;
  std::uint32_t remainder = 0;
  const std::uint32_t* const from = words + thread * (each / 4);
  for (std::uint32_t i = 0; i < own / 4; ++i) {
    remainder ^= from[i];
    remainder = table[3][remainder & 0xFF] ^ table[2][remainder >> 8 & 0xFF] ^
                table[1][remainder >> 16 & 0xFF] ^ table[0][remainder >> 24];
  }
  for (std::uint32_t i = own / 4 * 4; i < own; ++i) {
    const auto byte = reinterpret_cast<const std::uint8_t*>(from)[i];
    remainder = (remainder >> 8) ^ table[0][(remainder ^ byte) & 0xFF];
  }
  // Zeros before a message do not change its remainder: the threads with bytes come last.
  shared.remainders[thread] = 0;
  __syncthreads();
  if (thread < full) shared.remainders[kThreads - full + thread] = remainder;
  if (thread == full) shared.last_remainder = remainder;
  __syncthreads();
  std::uint32_t shift = png::crc_shift(each);
  for (std::uint32_t distance = 1; distance < kThreads; distance *= 2) {
    if (thread % (2 * distance) == 0)
      shared.remainders[thread] =
          png::crc_product(shared.remainders[thread], shift) ^ shared.remainders[thread + distance];
    shift = png::crc_product(shift, shift);
    __syncthreads();
  }
  if (thread != 0) return 0;
  return png::crc_product(shared.remainders[0], png::crc_shift(rest)) ^ shared.last_remainder;
}

/// The remainder of a chunk from its type on, without Adler-32.
__device__ std::uint32_t chunk_remainder(std::uint32_t block, std::uint32_t bytes, bool is_first) {
  std::uint32_t remainder = 0;
  for (const char letter : {'I', 'D', 'A', 'T'})
    remainder = png::crc_append(remainder, std::uint8_t(letter));
  if (is_first)
    for (const int byte : {0x78, 0x01}) remainder = png::crc_append(remainder, std::uint8_t(byte));
  return png::crc_product(remainder, png::crc_shift(bytes)) ^ block;
}
static_assert(png::kIdat[0] == 'I' && png::kIdat[3] == 'T' && png::kZlibHeader[0] == 0x78 &&
              png::kZlibHeader[1] == 0x01);

__global__ void __launch_bounds__(kThreads)
    compress_pieces_kernel(const std::byte* __restrict__ pixels,
                           const PngImage* __restrict__ images, const PngPiece* __restrict__ pieces,
                           std::uint8_t* all_filtered, std::uint8_t* all_blocks, PngBlock* out) {
  __shared__ Shared shared;
  const PngPiece piece = pieces[blockIdx.x];
  const PngImage image = images[piece.image];
  std::uint8_t* const filtered = all_filtered + piece.filtered;
  auto* const words = reinterpret_cast<std::uint32_t*>(all_blocks + piece.block);
  const int lane = int(threadIdx.x) % kWarpSize, warp = int(threadIdx.x) / kWarpSize;
  for (int s = lane; s < png::kDeflateSymbols; s += kWarpSize) shared.counts[warp][s] = 0;
  make_crc_tables(shared);
  filter(image, piece, pixels, filtered, shared);
  __syncthreads();
  find_differences(piece.size, shared);
  __syncthreads();
  count_symbols(piece, filtered, shared);
  __syncthreads();
  make_code(piece, shared);
  __syncthreads();
  const Placement placement = place(piece, warp, shared);
  begin_stream(placement, lane, words, shared);
  __syncthreads();
  write_codes(piece, placement, filtered, words, shared);
  end_stream(piece, placement, words, shared);
  __syncthreads();
  const std::uint32_t remainder = crc_remainder(words, placement.bytes, shared);
  if (threadIdx.x != 0) return;
  PngBlock block{placement.bytes, chunk_remainder(remainder, placement.bytes, piece.is_first), {}};
  block.adler.bytes = piece.size;
  for (int w = 0; w < kWarps; ++w) {
    block.adler.sum += shared.warp_sum[w];
    block.adler.weighted += shared.warp_weighted[w];
  }
  out[blockIdx.x] = block;
}

/// The data of a chunk.
__host__ __device__ std::uint32_t data_bytes(const PngPiece& piece, std::uint32_t block_bytes) {
  return block_bytes + std::uint32_t(piece.is_first ? sizeof png::kZlibHeader : 0) +
         std::uint32_t(piece.is_last ? png::kAdlerBytes : 0);
}
constexpr std::uint32_t kFrameBytes =
    std::uint32_t(png::kLengthBytes + sizeof png::kIdat + png::kCrcBytes);

constexpr int kPlaceThreads = 1024;

__global__ void __launch_bounds__(kPlaceThreads)
    place_chunks_kernel(const PngImage* __restrict__ images, int count,
                        const PngPiece* __restrict__ pieces, const PngBlock* __restrict__ blocks,
                        std::int64_t capacity, PngChunk* __restrict__ chunks,
                        PngChunks* __restrict__ out) {
  constexpr auto kAlignment = std::int64_t(kPngAlignment);
  std::int64_t used = 0;
  for (int first = 0; first < count; first += kPlaceThreads) {
    const int i = first + int(threadIdx.x);
    std::uint32_t bytes = 0;
    int begin = 0, end = 0;
    if (i < count) {
      begin = images[i].first_piece;
      end = begin + images[i].pieces;
      for (int p = begin; p < end; ++p)
        bytes += kFrameBytes + data_bytes(pieces[p], blocks[p].bytes);
    }
    std::int64_t total = 0;
    const std::int64_t aligned = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    const std::int64_t at = used + sum_before<kPlaceThreads>(aligned, total);
    const bool fits = at + bytes <= capacity;
    if (i < count) out[i] = {at, fits ? bytes : 0};
    std::int64_t offset = at;
    png::AdlerSums adler;
    for (int p = begin; p < end; ++p) {
      const PngBlock block = blocks[p];
      const std::uint32_t data = data_bytes(pieces[p], block.bytes);
      adler = adler.then(block.adler);
      PngChunk chunk{fits ? offset : -1, 0, 0};
      std::uint32_t remainder = block.remainder;
      if (pieces[p].is_last) {
        chunk.adler = adler.checksum();
        for (int shift = 24; shift >= 0; shift -= 8)
          remainder = png::crc_append(remainder, std::uint8_t(chunk.adler >> shift));
      }
      chunk.crc = png::crc_of_remainder(remainder, std::uint32_t(sizeof png::kIdat) + data);
      chunks[p] = chunk;
      offset += kFrameBytes + data;
    }
    used += total;
  }
}

__device__ std::uint8_t byte_of(std::uint32_t big_endian, int i) {
  return std::uint8_t(big_endian >> (24 - 8 * i));
}

__global__ void __launch_bounds__(kThreads)
    write_chunks_kernel(const PngPiece* __restrict__ pieces,
                        const std::uint8_t* __restrict__ block_bytes,
                        const PngBlock* __restrict__ blocks, const PngChunk* __restrict__ chunks,
                        std::uint8_t* __restrict__ out) {
  const PngPiece piece = pieces[blockIdx.x];
  const PngChunk chunk = chunks[blockIdx.x];
  if (chunk.offset < 0) return;
  const std::uint32_t bytes = blocks[blockIdx.x].bytes;
  std::uint8_t* const to = out + chunk.offset;
  const int before = int(png::kLengthBytes + sizeof png::kIdat) +
                     int(piece.is_first ? sizeof png::kZlibHeader : 0);
  const int behind = int(piece.is_last ? png::kAdlerBytes : 0) + int(png::kCrcBytes);
  const int thread = int(threadIdx.x);
  if (thread < before) {
    const std::uint32_t length = data_bytes(piece, bytes), idat = 0x49444154, zlib = 0x78010000;
    to[thread] = thread < 4   ? byte_of(length, thread)
                 : thread < 8 ? byte_of(idat, thread - 4)
                              : byte_of(zlib, thread - 8);
  }
  std::uint8_t* const data = to + before;
  if (thread < behind) {
    const int i = thread + (piece.is_last ? 0 : int(png::kAdlerBytes));
    data[bytes + unsigned(thread)] = i < 4 ? byte_of(chunk.adler, i) : byte_of(chunk.crc, i - 4);
  }
  // Words of the destination, each from two words of the block.
  const std::uint8_t* const from = block_bytes + piece.block;
  const auto* const words = reinterpret_cast<const std::uint32_t*>(from);
  const auto head = min(bytes, std::uint32_t(-reinterpret_cast<std::uintptr_t>(data) & 3));
  const std::uint32_t count = (bytes - head) / 4;
  for (std::uint32_t w = threadIdx.x; w < count; w += kThreads)
    reinterpret_cast<std::uint32_t*>(data + head)[w] =
        head == 0 ? words[w] : __funnelshift_r(words[w], words[w + 1], 8 * head);
  for (std::uint32_t i = threadIdx.x; i < head; i += kThreads) data[i] = from[i];
  for (std::uint32_t i = head + 4 * count + threadIdx.x; i < bytes; i += kThreads)
    data[i] = from[i];
}

}  // namespace

void compress_png_pieces(const std::byte* pixels, const PngImage* images, const PngPiece* pieces,
                         int count, std::uint8_t* filtered, std::uint8_t* blocks, PngBlock* out,
                         cudaStream_t stream) {
  if (count == 0) return;
  const dim3 grid{unsigned(count)}, block(kThreads);
  compress_pieces_kernel<<<grid, block, 0, stream>>>(pixels, images, pieces, filtered, blocks, out);
  check_launch("compress_pieces_kernel", grid, block);
}

void place_png_chunks(const PngImage* images, int count, const PngPiece* pieces,
                      const PngBlock* blocks, std::int64_t capacity, PngChunk* chunks,
                      PngChunks* out, cudaStream_t stream) {
  if (count == 0) return;
  const dim3 grid(1), block(kPlaceThreads);
  place_chunks_kernel<<<grid, block, 0, stream>>>(images, count, pieces, blocks, capacity, chunks,
                                                  out);
  check_launch("place_chunks_kernel", grid, block);
}

void write_png_chunks(const PngPiece* pieces, int count, const std::uint8_t* block_bytes,
                      const PngBlock* blocks, const PngChunk* chunks, std::uint8_t* out,
                      cudaStream_t stream) {
  if (count == 0) return;
  const dim3 grid{unsigned(count)}, block(kThreads);
  write_chunks_kernel<<<grid, block, 0, stream>>>(pieces, block_bytes, blocks, chunks, out);
  check_launch("write_chunks_kernel", grid, block);
}

}  // namespace eckart::compute::cuda
