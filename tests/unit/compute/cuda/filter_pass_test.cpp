#include "compute/cuda/layout/filter_pass.hpp"

#include <gtest/gtest.h>

namespace eckart::compute::cuda {
namespace {

constexpr int kRows = 3, kCols = 5, kChannels = 3;

FilterPass along_rows(int out_cols) {
  FilterPass pass{};
  pass.lines = kRows;
  pass.in_length = kCols;
  pass.out_length = out_cols;
  pass.run = kChannels;
  return pass;
}

FilterPass along_columns(int out_rows) {
  FilterPass pass{};
  pass.lines = 1;
  pass.in_length = kRows;
  pass.out_length = out_rows;
  pass.run = kCols * kChannels;
  return pass;
}

TEST(FilterPass, covers_each_output_sample_along_rows) {
  const FilterPass pass = along_rows(7);
  ASSERT_EQ(pass.out_samples(), kRows * 7 * kChannels);
  for (int row = 0; row < kRows; ++row) {
    for (int col = 0; col < 7; ++col) {
      for (int c = 0; c < kChannels; ++c) {
        const int index = (row * 7 + col) * kChannels + c;
        EXPECT_EQ(pass.position(index), col);
        EXPECT_EQ(pass.first_in_index(index, 2), (row * kCols + 2) * kChannels + c);
      }
    }
  }
}

TEST(FilterPass, covers_each_output_sample_along_columns) {
  const FilterPass pass = along_columns(7);
  ASSERT_EQ(pass.out_samples(), 7 * kCols * kChannels);
  for (int row = 0; row < 7; ++row) {
    for (int sample = 0; sample < kCols * kChannels; ++sample) {
      const int index = row * kCols * kChannels + sample;
      EXPECT_EQ(pass.position(index), row);
      EXPECT_EQ(pass.first_in_index(index, 1), kCols * kChannels + sample);
    }
  }
}

TEST(FilterPass, has_indices_beyond_32_bits) {
  FilterPass pass = along_rows(60000);
  pass.lines = 60000;
  EXPECT_EQ(pass.out_samples(), std::int64_t(60000) * 60000 * kChannels);
  EXPECT_EQ(pass.first_in_index(pass.out_samples() - 1, 0),
            std::int64_t(59999) * kCols * kChannels + kChannels - 1);
}

TEST(RoundFiltered, rounds_halves_up_and_clamps) {
  for (const int bits : {22, 30}) {
    const std::int64_t one = std::int64_t(1) << bits;
    EXPECT_EQ(round_filtered(7 * one, bits, 255), 7);
    EXPECT_EQ(round_filtered(7 * one + one / 2, bits, 255), 8);
    EXPECT_EQ(round_filtered(7 * one + one / 2 - 1, bits, 255), 7);
    EXPECT_EQ(round_filtered(-one / 2, bits, 255), 0);
    EXPECT_EQ(round_filtered(-300 * one, bits, 255), 0);
    EXPECT_EQ(round_filtered(300 * one, bits, 255), 255);
    EXPECT_EQ(round_filtered(70000 * one, bits, 65535), 65535);
  }
}

}  // namespace
}  // namespace eckart::compute::cuda
