#include "compute/cpu/orthonormalise.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>

namespace eckart::cpu {
namespace {

constexpr int kRows = 200, kCols = 32;

using Columns = std::vector<float>;

/// Column j is multiplied by scale^j and has a share of the first column.
Columns make_columns(double scale, double share) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  Columns y(std::size_t(kRows) * kCols);
  for (int col = 0; col < kCols; ++col) {
    for (int row = 0; row < kRows; ++row) {
      const double first = col == 0 ? 0 : share * double(y[std::size_t(row)]);
      y[std::size_t(col) * kRows + std::size_t(row)] =
          float(std::pow(scale, col) * (normal(random) + first));
    }
  }
  return y;
}

double dot(const Columns& y, int i, int j) {
  double sum = 0;
  for (int row = 0; row < kRows; ++row) {
    sum += double(y[std::size_t(i) * kRows + std::size_t(row)]) *
           double(y[std::size_t(j) * kRows + std::size_t(row)]);
  }
  return sum;
}

double largest_deviation(const Columns& y) {
  double largest = 0;
  for (int i = 0; i < kCols; ++i) {
    for (int j = 0; j < kCols; ++j) {
      largest = std::max(largest, std::abs(dot(y, i, j) - (i == j)));
    }
  }
  return largest;
}

TEST(Orthonormaliser, scales_of_columns_do_not_matter) {
  Columns y = make_columns(0.5, 0);
  Orthonormaliser()(y, kRows, kCols);
  EXPECT_LT(largest_deviation(y), 1e-5);
}

TEST(Orthonormaliser, a_second_pass_mends_what_the_shift_has_left) {
  Columns y = make_columns(1, 100);
  Orthonormaliser orthonormalise;
  orthonormalise(y, kRows, kCols);
  EXPECT_GT(largest_deviation(y), 1e-4);
  orthonormalise(y, kRows, kCols);
  EXPECT_LT(largest_deviation(y), 1e-5);
}

TEST(Orthonormaliser, equal_columns_and_columns_of_zeros_are_survived) {
  Columns y = make_columns(1, 0);
  std::copy_n(y.begin(), kRows, y.begin() + std::ptrdiff_t(5) * kRows);
  std::fill_n(y.begin() + std::ptrdiff_t(9) * kRows, kRows, 0.F);
  Orthonormaliser orthonormalise;
  orthonormalise(y, kRows, kCols);
  for (const float value : y) ASSERT_TRUE(std::isfinite(value));
  EXPECT_EQ(dot(y, 9, 9), 0);
  EXPECT_EQ(orthonormalise.squared_diagonal()[9], 0);
}

TEST(Orthonormaliser, the_follower_is_multiplied_by_the_same) {
  Columns y = make_columns(0.9, 1), follower = y;
  Orthonormaliser()(y, kRows, kCols, &follower);
  EXPECT_EQ(y, follower);
}

TEST(Orthonormaliser, the_diagonal_tells_lengths_of_orthogonal_columns) {
  Columns y(std::size_t(kRows) * kCols);
  for (int col = 0; col < kCols; ++col) {
    y[std::size_t(col) * kRows + std::size_t(col)] = float(col + 1);
  }
  Orthonormaliser orthonormalise;
  orthonormalise(y, kRows, kCols);
  for (int col = 0; col < kCols; ++col) {
    const double expected = std::pow(col + 1, 2);
    EXPECT_NEAR(orthonormalise.squared_diagonal()[std::size_t(col)], expected, 1e-5 * expected);
  }
}

}  // namespace
}  // namespace eckart::cpu
