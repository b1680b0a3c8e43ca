#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <queue>
#include <random>
#include <string>
#include <vector>

#include "codec/png/checksums.hpp"
#include "codec/png/deflate_block.hpp"
#include "codec/png/idat_chunks.hpp"

namespace eckart::codec::png {
namespace {

using Counts = std::vector<std::uint32_t>;
using Rows = std::vector<std::uint8_t>;

std::vector<int> code_lengths(const Counts& counts, int max_bits) {
  std::vector<std::uint8_t> lengths(counts.size());
  LengthScratch scratch;
  choose_code_lengths(counts.data(), int(counts.size()), max_bits, lengths.data(), scratch,
                      OneThread());
  return {lengths.begin(), lengths.end()};
}

/// The sum of 2^-length: 1 if the code is complete.
double kraft_sum(const std::vector<int>& lengths) {
  double sum = 0;
  for (const int length : lengths) sum += length == 0 ? 0 : std::ldexp(1, -length);
  return sum;
}

double bits(const Counts& counts, const std::vector<int>& lengths) {
  double sum = 0;
  for (std::size_t s = 0; s < counts.size(); ++s) sum += double(counts[s]) * lengths[s];
  return sum;
}

/// The bits of a Huffman code.
double optimal_bits(const Counts& counts) {
  std::priority_queue<double, std::vector<double>, std::greater<>> weights;
  for (const std::uint32_t count : counts) {
    if (count > 0) weights.push(count);
  }
  double sum = 0;
  while (weights.size() > 1) {
    double pair = weights.top();
    weights.pop();
    pair += weights.top();
    weights.pop();
    sum += pair;
    weights.push(pair);
  }
  return sum;
}

/// Counts of very different kinds.
std::vector<Counts> many_counts() {
  std::vector<Counts> all = {{1, 1}, {1, 65536}, {65536, 1, 1}, Counts(286, 1), Counts(286, 229)};
  all.push_back(Counts(286));
  all.back()[7] = 60000;
  all.back()[256] = 1;
  Counts fibonacci = {1, 1};
  while (fibonacci.size() < 23)
    fibonacci.push_back(fibonacci.back() + fibonacci[fibonacci.size() - 2]);
  all.push_back(fibonacci);
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    const double ratio = 0.3 + 0.7 * i / 300;  // of neighbors
    Counts counts(2 + random() % 285);
    double expected = 20000;
    for (std::uint32_t& count : counts) {
      count = std::uint32_t(expected) + (random() % 8 == 0 ? 1 : 0);
      expected *= ratio;
    }
    counts[0] = counts[1] = 1 + random() % 30000;
    std::ranges::shuffle(counts, random);
    all.push_back(counts);
  }
  return all;
}

TEST(DeflateCode, is_complete) {
  for (const Counts& counts : many_counts()) {
    const std::vector<int> lengths = code_lengths(counts, kMaxCodeBits);
    ASSERT_EQ(kraft_sum(lengths), 1);
    for (std::size_t s = 0; s < counts.size(); ++s) {
      ASSERT_EQ(lengths[s] > 0, counts[s] > 0);
      ASSERT_LE(lengths[s], kMaxCodeBits);
    }
  }
}

TEST(DeflateCode, keeps_its_maximum_length) {
  for (const Counts& counts : many_counts()) {
    if (counts.size() > 19) continue;  // 2^7 codes have at most 7 bits
    const std::vector<int> lengths = code_lengths(counts, 7);
    ASSERT_EQ(kraft_sum(lengths), 1);
    ASSERT_LE(*std::ranges::max_element(lengths), 7);
  }
}

/// With geometric counts, as those of residuals.
TEST(DeflateCode, is_nearly_as_short_as_a_huffman_code) {
  for (double ratio = 0.7; ratio < 0.99; ratio += 0.01) {
    Counts counts(256);
    for (std::size_t i = 0; i < 128; ++i)
      counts[i] = counts[255 - i] = 1 + std::uint32_t(10000 * std::pow(ratio, double(i)));
    EXPECT_LT(bits(counts, code_lengths(counts, kMaxCodeBits)), 1.01 * optimal_bits(counts));
  }
}

std::vector<std::byte> chunks_of(const Rows& rows) {
  std::vector<std::byte> chunks;
  append_idat_chunks(rows, chunks);
  return chunks;
}

std::uint32_t big_endian_32(const std::uint8_t* bytes) {
  return std::uint32_t(bytes[0]) << 24 | std::uint32_t(bytes[1]) << 16 |
         std::uint32_t(bytes[2]) << 8 | bytes[3];
}

/// Checks the chunks and inflates their data.
Rows inflated(const std::vector<std::byte>& chunks, std::size_t size) {
  std::vector<std::uint8_t> stream;
  const auto* chunk = reinterpret_cast<const std::uint8_t*>(chunks.data());
  for (const std::uint8_t* const end = chunk + chunks.size(); chunk < end;) {
    const std::uint32_t bytes = big_endian_32(chunk);
    EXPECT_EQ(std::string(chunk + 4, chunk + 8), "IDAT");
    EXPECT_EQ(crc32(0, chunk + 4, bytes + 4), big_endian_32(chunk + 8 + bytes));
    stream.insert(stream.end(), chunk + 8, chunk + 8 + bytes);
    chunk += 12 + bytes;
  }
  Rows rows(size + 1);
  uLongf bytes = rows.size();
  EXPECT_EQ(uncompress(rows.data(), &bytes, stream.data(), stream.size()), Z_OK);
  rows.resize(bytes);
  return rows;
}

Rows noise(std::size_t size, unsigned values) {
  std::mt19937 random{std::mt19937::result_type(size)};
  Rows rows(size);
  for (std::uint8_t& byte : rows) byte = std::uint8_t(random() % values);
  return rows;
}

TEST(PngCompression, can_be_inflated) {
  for (const std::size_t size : {1, 2, 3, 4, 63, 64, 65, 129, 65535, 65536, 65537, 200000}) {
    for (const unsigned values : {1, 2, 3, 50, 256}) {
      const Rows rows = noise(size, values);
      EXPECT_EQ(inflated(chunks_of(rows), size), rows) << size << ' ' << values;
    }
  }
}

/// Runs of all lengths at all places of a word, also from one block into the next.
TEST(PngCompression, keeps_runs_of_every_length) {
  Rows rows;
  for (int length = 1; length < 600; ++length) {
    rows.push_back(std::uint8_t(length | 1));
    rows.insert(rows.end(), std::size_t(length), std::uint8_t(length & 254));
  }
  ASSERT_GT(rows.size(), 2 * kBlockBytes);
  EXPECT_EQ(inflated(chunks_of(rows), rows.size()), rows);
}

TEST(PngCompression, makes_runs_short) { EXPECT_LT(chunks_of(Rows(65536)).size(), 120U); }

TEST(PngCompression, adds_little_to_noise) {
  const Rows rows = noise(300000, 256);
  EXPECT_LT(chunks_of(rows).size(), rows.size() * 1.003);
}

/// Bytes in parts of different sizes.
TEST(PngChecksum, is_that_of_the_parts_together) {
  const Rows rows = noise(150000, 256);
  AdlerSums adler;
  std::uint32_t remainder = 0;
  for (std::size_t begin = 0, size = 1; begin < rows.size(); begin += size, size = size * 3 + 1) {
    size = std::min(size, rows.size() - begin);
    AdlerSums sums{.bytes = size};
    std::uint32_t part = 0;
    for (std::size_t i = 0; i < size; ++i) {
      sums.sum += rows[begin + i];
      sums.weighted += (size - i) * rows[begin + i];
      part = crc_append(part, rows[begin + i]);
    }
    adler = adler.then(sums);
    remainder = crc_product(remainder, crc_shift(std::uint32_t(size))) ^ part;
  }
  EXPECT_EQ(adler.checksum(), adler32(1, rows.data(), uInt(rows.size())));
  EXPECT_EQ(crc_of_remainder(remainder, std::uint32_t(rows.size())),
            crc32(0, rows.data(), uInt(rows.size())));
}

}  // namespace
}  // namespace eckart::codec::png
