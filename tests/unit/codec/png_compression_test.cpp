#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <queue>
#include <random>
#include <string>
#include <vector>

#include "codec/png/compress_rows.hpp"
#include "codec/png/deflate_code.hpp"

namespace eckart::codec::png {
namespace {

using Counts = std::vector<std::uint32_t>;
using Rows = std::vector<std::uint8_t>;

std::vector<int> code_lengths(const Counts& counts, int max_bits) {
  std::vector<std::uint8_t> lengths(counts.size());
  choose_code_lengths(counts.data(), int(counts.size()), max_bits, lengths.data());
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

Rows inflated(const std::vector<std::byte>& stream, std::size_t size) {
  Rows rows(size + 1);
  uLongf bytes = rows.size();
  const auto* const from = reinterpret_cast<const Bytef*>(stream.data());
  EXPECT_EQ(uncompress(rows.data(), &bytes, from, stream.size()), Z_OK);
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
      EXPECT_EQ(inflated(compress_rows(rows), size), rows) << size << ' ' << values;
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
  EXPECT_EQ(inflated(compress_rows(rows), rows.size()), rows);
}

TEST(PngCompression, makes_runs_short) { EXPECT_LT(compress_rows(Rows(65536)).size(), 120U); }

TEST(PngCompression, adds_little_to_noise) {
  const Rows rows = noise(300000, 256);
  EXPECT_LT(compress_rows(rows).size(), rows.size() * 1.003);
}

}  // namespace
}  // namespace eckart::codec::png
