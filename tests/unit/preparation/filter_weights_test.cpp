#include "preparation/filter_weights.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <thread>
#include <vector>

namespace eckart::preparation {
namespace {

constexpr std::pair<int, int> kSizes[] = {{1, 1},   {1, 9},     {9, 1},      {208, 256},
                                          {768, 1}, {768, 256}, {1000, 999}, {3, 4000}};

TEST(LanczosFilter, has_weights_with_the_sum_one) {
  for (const Depth depth : {Depth::u8, Depth::u16}) {
    for (const auto& [in, out] : kSizes) {
      const FilterWeights filter = lanczos_weights(in, out, depth);
      for (std::size_t i = 0; i < std::size_t(out); ++i) {
        const auto weights = filter.of(i);
        const std::int64_t sum = std::accumulate(weights.begin(), weights.end(), std::int64_t(0));
        const std::int64_t rounding_error = std::int64_t(weights.size());
        EXPECT_LE(std::abs(sum - (std::int64_t(1) << fraction_bits(depth))), rounding_error)
            << in << " to " << out << ", output " << i;
      }
    }
  }
}

TEST(LanczosFilter, reads_only_within_the_input) {
  for (const auto& [in, out] : kSizes) {
    const FilterWeights filter = lanczos_weights(in, out, Depth::u8);
    ASSERT_EQ(filter.windows.size(), std::size_t(out));
    for (const FilterWeights::Window& window : filter.windows) {
      EXPECT_GE(window.first, 0);
      EXPECT_GE(window.count, 1);
      EXPECT_LE(window.count, filter.max_count);
      EXPECT_LE(window.first + window.count, in);
    }
  }
}

/// A sum of 8-bit samples must fit into 32 bits with its sign.
TEST(LanczosFilter, does_not_overflow_with_8_bits) {
  for (int out = 1; out < 300; ++out) {
    for (const int in : {1, 2, 3, 5, 17, 250}) {
      const FilterWeights filter = lanczos_weights(in, out, Depth::u8);
      for (std::size_t i = 0; i < std::size_t(out); ++i) {
        std::int64_t sum = 0;
        for (const std::int32_t weight : filter.of(i)) sum += std::abs(std::int64_t(weight));
        EXPECT_LT(sum * peak(Depth::u8) + (1 << 21), std::int64_t(1) << 31);
      }
    }
  }
}

TEST(WeightCache, determines_weights_once) {
  WeightCache cache;
  const auto weights = cache.get(20, 30, Depth::u8);
  EXPECT_EQ(cache.get(20, 30, Depth::u8), weights);
  EXPECT_NE(cache.get(20, 30, Depth::u16), weights);
  EXPECT_NE(cache.get(30, 20, Depth::u8), weights);
  EXPECT_EQ(weights->weights, lanczos_weights(20, 30, Depth::u8).weights);
}

TEST(WeightCache, counts_the_bytes_of_all_weights) {
  for (const Depth depth : {Depth::u8, Depth::f32}) {
    WeightCache cache;
    const auto weights = cache.get(20, 30, depth);
    EXPECT_EQ(cache.bytes(), 30 * sizeof(FilterWeights::Window) +
                                 weights->weights.size() * sizeof(std::int32_t) +
                                 weights->float_weights.size() * sizeof(double));
    EXPECT_GT(weights->weights.size() + weights->float_weights.size(), 30u);
  }
}

TEST(WeightCache, has_a_maximum_size) {
  WeightCache cache;
  const auto first = cache.get(1000, 20000, Depth::u8);
  for (int in = 1; in < 100; ++in) {
    cache.get(in, 20000, Depth::u8);
    EXPECT_GT(cache.bytes(), 0u);
    EXPECT_LE(cache.bytes(), WeightCache::kMaxBytes);
  }
  EXPECT_EQ(first->windows.size(), 20000u) << "weights in use stay valid";
}

TEST(WeightCache, may_be_used_by_several_threads) {
  WeightCache cache;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int in = 1; in < 50; ++in)
        EXPECT_EQ(cache.get(in, 5000, Depth::u8)->windows.size(), 5000u);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace eckart::preparation
