#include "compute/cpu/shifted_cholesky_qr.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>

namespace eckart::compute::cpu {
namespace {

constexpr int kRows = 200, kCols = 32;

using Columns = std::vector<float>;

/// Random columns. Column j is scaled by scale^j and contains `share` of the first column.
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

TEST(ShiftedCholeskyQr, is_independent_of_column_scales) {
  Columns y = make_columns(0.5, 0);
  ShiftedCholeskyQr()(y, kRows, kCols);
  EXPECT_LT(largest_deviation(y), 1e-5);
}

TEST(ShiftedCholeskyQr, is_accurate_after_a_second_pass) {
  Columns y = make_columns(1, 100);
  ShiftedCholeskyQr orthonormalize;
  orthonormalize(y, kRows, kCols);
  EXPECT_GT(largest_deviation(y), 1e-4);
  orthonormalize(y, kRows, kCols);
  EXPECT_LT(largest_deviation(y), 1e-5);
}

TEST(ShiftedCholeskyQr, handles_equal_and_zero_columns) {
  Columns y = make_columns(1, 0);
  std::copy_n(y.begin(), kRows, y.begin() + std::ptrdiff_t(5) * kRows);
  std::fill_n(y.begin() + std::ptrdiff_t(9) * kRows, kRows, 0.F);
  ShiftedCholeskyQr orthonormalize;
  orthonormalize(y, kRows, kCols);
  for (const float value : y) ASSERT_TRUE(std::isfinite(value));
  EXPECT_EQ(dot(y, 9, 9), 0);
  EXPECT_EQ(orthonormalize.squared_diagonal()[9], 0);
}

TEST(ShiftedCholeskyQr, applies_the_same_factor_to_the_second_matrix) {
  Columns y = make_columns(0.9, 1), second_matrix = y;
  ShiftedCholeskyQr()(y, kRows, kCols, &second_matrix);
  EXPECT_EQ(y, second_matrix);
}

TEST(ShiftedCholeskyQr, has_the_squared_lengths_of_orthogonal_columns_as_diagonal) {
  Columns y(std::size_t(kRows) * kCols);
  for (int col = 0; col < kCols; ++col) {
    y[std::size_t(col) * kRows + std::size_t(col)] = float(col + 1);
  }
  ShiftedCholeskyQr orthonormalize;
  orthonormalize(y, kRows, kCols);
  for (int col = 0; col < kCols; ++col) {
    const double expected = std::pow(col + 1, 2);
    EXPECT_NEAR(orthonormalize.squared_diagonal()[std::size_t(col)], expected, 1e-5 * expected);
  }
}

}  // namespace
}  // namespace eckart::compute::cpu
