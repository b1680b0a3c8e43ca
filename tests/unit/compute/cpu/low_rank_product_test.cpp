#include "compute/cpu/low_rank_product.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <random>
#include <vector>

namespace eckart::compute::cpu {
namespace {

constexpr int kRows = 17, kCols = 9, kMaxRank = 7;

template <class Real>
std::vector<Real> random_matrix(int rows, int cols) {
  std::mt19937 random(5);
  std::uniform_real_distribution<Real> uniform(-1, 1);
  std::vector<Real> matrix(std::size_t(rows) * std::size_t(cols));
  for (Real& entry : matrix) entry = uniform(random);
  return matrix;
}

template <class Real>
void expect_product(const Factors<Real>& factors, int rank, const std::vector<Real>& values,
                    double tolerance) {
  for (int row = 0; row < factors.m; ++row) {
    for (int col = 0; col < factors.n; ++col) {
      double sum = 0;
      for (int i = 0; i < rank; ++i)
        sum += double(factors.p_mk[std::size_t(row + i * factors.m)]) *
               double(factors.v_nk[std::size_t(col + i * factors.n)]);
      EXPECT_NEAR(values[std::size_t(col + row * factors.n)], sum, tolerance);
    }
  }
}

template <class Real>
void check(double tolerance) {
  const std::vector<Real> v = random_matrix<Real>(kCols, kMaxRank),
                          p = random_matrix<Real>(kRows, kMaxRank);
  const Factors<Real> factors{v, p, kRows, kCols};
  constexpr Real kNotUsed = 1000;
  std::vector<Real> values(std::size_t(kRows) * std::size_t(kCols), kNotUsed);
  int rank = 0;
  for (const int next : {4, 7, 7, 3, 1, 6}) {
    change_rank(factors, rank, next, values);
    rank = next;
    expect_product(factors, rank, values, tolerance);
  }
}

TEST(LowRankProduct, is_the_sum_of_the_triplets_whatever_rank_came_before) {
  check<float>(1e-5);
  check<double>(1e-14);
}

}  // namespace
}  // namespace eckart::compute::cpu
