#include "compute/cpu/low_rank_product.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <random>
#include <vector>

namespace eckart::compute::cpu {
namespace {

constexpr int kRows = 17, kCols = 9, kMaxRank = 7;

std::vector<double> random_matrix(int rows, int cols) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> matrix(std::size_t(rows) * std::size_t(cols));
  for (double& entry : matrix) entry = uniform(random);
  return matrix;
}

void expect_product(const LowRankFactors& factors, int rank, const std::vector<double>& values) {
  for (int row = 0; row < factors.m; ++row) {
    for (int col = 0; col < factors.n; ++col) {
      double sum = 0;
      for (int i = 0; i < rank; ++i)
        sum += factors.p_mk[std::size_t(row + i * factors.m)] *
               factors.v_nk[std::size_t(col + i * factors.n)];
      EXPECT_NEAR(values[std::size_t(col + row * factors.n)], sum, 1e-14);
    }
  }
}

TEST(LowRankProduct, is_the_sum_of_the_triplets_whatever_rank_came_before) {
  const std::vector<double> v = random_matrix(kCols, kMaxRank), p = random_matrix(kRows, kMaxRank);
  const LowRankFactors factors{v, p, kRows, kCols};
  constexpr double kNotUsed = 1000;
  std::vector<double> values(std::size_t(kRows) * std::size_t(kCols), kNotUsed);
  int rank = 0;
  for (const int next : {4, 7, 7, 3, 1, 6}) {
    change_rank(factors, rank, next, values);
    rank = next;
    expect_product(factors, rank, values);
  }
}

}  // namespace
}  // namespace eckart::compute::cpu
