#include "codec/png/idat_chunks.hpp"

#include <libdeflate.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "codec/png/deflate_block.hpp"

namespace eckart::codec::png {

/// The bits of a stream; put() as BitWriter, but several codes are put before they are stored.
class LiteralWriter {
 public:
  explicit LiteralWriter(BitWriter& bits) : bits_(bits) {}
  std::uint8_t* end() const { return bits_.to_; }

  /// Literals, each as code and length: code | length << 16.
  void put(std::span<const std::uint8_t> literals, const std::uint32_t* entries) {
    constexpr std::size_t kAtOnce = 3;  // with kMaxCodeBits, and 7 bits that are left
    std::uint64_t bits = bits_.bits_;
    int count = bits_.count_;
    std::uint8_t* to = bits_.to_;
    const auto add = [&](std::uint8_t literal) {
      const std::uint32_t entry = entries[literal];
      bits |= std::uint64_t(entry & 0xFFFF) << count;
      count += int(entry >> 16);
    };
    const auto store = [&] {
      std::memcpy(to, &bits, sizeof bits);
      to += count >> 3;
      bits >>= count & ~7;
      count &= 7;
    };
    const std::uint8_t* literal = literals.data();
    const std::uint8_t* const end = literal + literals.size();
    for (; end - literal >= std::ptrdiff_t(kAtOnce); literal += kAtOnce) {
      for (std::size_t i = 0; i < kAtOnce; ++i) add(literal[i]);
      store();
    }
    for (; literal < end; ++literal) add(*literal);
    store();
    bits_.bits_ = bits;
    bits_.count_ = count;
    bits_.to_ = to;
  }

 private:
  BitWriter& bits_;
};

namespace {

/// Bytes that become a match with the distance 1.
struct Run {
  std::uint32_t begin, length;
};

/// For each byte of a block a bit: whether it equals the byte before it. The first never does.
class EqualsBefore {
 public:
  explicit EqualsBefore(std::span<const std::uint8_t> block) {
    words_.fill(0);
    std::size_t i = 1;  // of the first byte that is compared
    for (; i + kStep <= block.size(); i += kStep) set(i, compare(&block[i]));
    for (; i < block.size(); ++i) set(i, block[i] == block[i - 1] ? 1 : 0);
  }

  /// Calls the function with begin and end of each sequence of at least kMinMatch bits.
  template <class Function>
  void for_each_run(std::size_t size, const Function& function) const {
    const std::size_t count = size / kBits + 1;
    for (std::size_t w = 0, from = 0; w < count;) {
      const std::uint64_t word = words_[w], next = words_[w + 1];
      std::uint64_t begins = word & (word >> 1 | next << 63) & (word >> 2 | next << 62);
      begins &= ~std::uint64_t(0) << from;
      if (begins == 0) {
        ++w;
        from = 0;
        continue;
      }
      const auto first = std::size_t(std::countr_zero(begins));
      const std::size_t begin = w * kBits + first;
      std::size_t end = begin + std::size_t(std::countr_one(word >> first));
      if (end == (w + 1) * kBits) {
        for (++w; words_[w] == ~std::uint64_t(0); ++w) end += kBits;
        end += std::size_t(std::countr_one(words_[w]));
      }
      from = end - w * kBits;
      function(begin, end);
    }
  }

 private:
  static constexpr std::size_t kBits = 64;
#ifdef __SSE2__
  static constexpr std::size_t kStep = 16;
  static std::uint64_t compare(const std::uint8_t* bytes) {
    const auto load = [](const std::uint8_t* from) {
      return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    };
    return std::uint64_t(_mm_movemask_epi8(_mm_cmpeq_epi8(load(bytes), load(bytes - 1))));
  }
#else
  static constexpr std::size_t kStep = 1;
  static std::uint64_t compare(const std::uint8_t* bytes) { return bytes[0] == bytes[-1]; }
#endif
  /// Sets kStep bits from position i on.
  void set(std::size_t i, std::uint64_t bits) {
    const std::size_t shift = i % kBits;
    words_[i / kBits] |= bits << shift;
    if (shift + kStep > kBits) words_[i / kBits + 1] |= bits >> (kBits - shift);
  }

  std::array<std::uint64_t, kBlockBytes / kBits + 2> words_;  // the last ones are 0
};

void find_runs(std::span<const std::uint8_t> block, std::vector<Run>& runs) {
  runs.clear();
  EqualsBefore(block).for_each_run(block.size(), [&](std::size_t begin, std::size_t end) {
    while (end - begin >= kMinMatch) {
      const std::size_t length = std::min<std::size_t>(end - begin, kMaxMatch);
      runs.push_back({std::uint32_t(begin), std::uint32_t(length)});
      begin += length;
    }
  });
}

/// Counts the symbols of a block: of all bytes, less those in runs.
void count_symbols(std::span<const std::uint8_t> block, const std::vector<Run>& runs,
                   std::uint32_t* counts) {
  constexpr std::size_t kTables = 4;  // neighbors are often equal, and must not wait for each other
  std::array<std::array<std::uint32_t, 256>, kTables> tables{};
  std::size_t i = 0;
  for (; i + 8 <= block.size(); i += 8) {
    std::uint64_t word;
    std::memcpy(&word, &block[i], 8);
    for (std::size_t k = 0; k < 8; ++k, word >>= 8) ++tables[k % kTables][word & 0xFF];
  }
  for (; i < block.size(); ++i) ++tables[0][block[i]];
  std::fill_n(counts, kDeflateSymbols, 0);
  for (std::size_t s = 0; s < 256; ++s)
    counts[s] = tables[0][s] + tables[1][s] + tables[2][s] + tables[3][s];
  for (const Run& run : runs) {
    counts[block[run.begin]] -= run.length;
    ++counts[length_symbol(int(run.length)).symbol];
  }
  counts[kEndOfBlock] = 1;
}

/// Returns the end of what was written.
std::uint8_t* compress_block(std::span<const std::uint8_t> block, bool is_last,
                             std::vector<Run>& runs, std::uint8_t* end) {
  find_runs(block, runs);
  std::array<std::uint32_t, kDeflateSymbols> counts;
  count_symbols(block, runs, counts.data());
  BlockCode code;
  HeaderScratch scratch;
  choose_code_lengths(counts.data(), kDeflateSymbols, kMaxCodeBits, code.lengths,
                      scratch.length_scratch, OneThread());
  assign_codes(code.lengths, kDeflateSymbols, code.codes);
  BitWriter to(end);
  write_block_header(code, is_last, scratch, to);
  std::array<std::uint32_t, 256> entries;
  for (std::size_t s = 0; s < entries.size(); ++s)
    entries[s] = std::uint32_t(code.codes[s]) | std::uint32_t(code.lengths[s]) << 16;
  std::size_t begin = 0;
  LiteralWriter literals(to);
  for (const Run& run : runs) {
    literals.put(block.subspan(begin, run.begin - begin), entries.data());
    const LengthSymbol symbol = length_symbol(int(run.length));
    to.put(code.codes[symbol.symbol], code.lengths[symbol.symbol]);
    to.put(symbol.extra, symbol.extra_bits);
    to.put(kDistanceOne, kDistanceBits);
    begin = run.begin + run.length;
  }
  literals.put(block.subspan(begin), entries.data());
  to.put(code.codes[kEndOfBlock], code.lengths[kEndOfBlock]);
  if (!is_last) to.put(0, kSyncBits);
  end = to.align();
  return is_last ? end : std::ranges::copy(kSync, end).out;
}

std::uint8_t* write_big_endian_32(std::uint32_t value, std::uint8_t* to) {
  for (int shift = 24; shift >= 0; shift -= 8) *to++ = std::uint8_t(value >> shift);
  return to;
}

}  // namespace

void append_idat_chunks(std::span<const std::uint8_t> rows, std::vector<std::byte>& file) {
  constexpr std::size_t kStoredBytes = 8;  // at a time, by LiteralWriter
  std::uint32_t adler = 1;
  std::vector<Run> runs;
  for (std::size_t begin = 0; begin < rows.size(); begin += kBlockBytes) {
    const auto block = rows.subspan(begin, std::min(kBlockBytes, rows.size() - begin));
    const bool is_last = begin + block.size() == rows.size();
    const std::size_t at = file.size();
    file.resize(at + max_chunk_bytes(block.size()) + kStoredBytes);
    auto* const length = reinterpret_cast<std::uint8_t*>(file.data() + at);
    std::uint8_t* const type = length + kLengthBytes;
    std::uint8_t* to = std::ranges::copy(kIdat, type).out;
    if (begin == 0) to = std::ranges::copy(kZlibHeader, to).out;
    to = compress_block(block, is_last, runs, to);
    adler = libdeflate_adler32(adler, block.data(), block.size());
    if (is_last) to = write_big_endian_32(adler, to);
    write_big_endian_32(std::uint32_t(to - type) - std::uint32_t(sizeof kIdat), length);
    to = write_big_endian_32(libdeflate_crc32(0, type, std::size_t(to - type)), to);
    file.resize(at + std::size_t(to - length));
  }
}

}  // namespace eckart::codec::png
