#include "compute/cpu/subspace_iteration.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace eckart::compute::cpu {
namespace {

constexpr int kRows = 150, kCols = 120, kRank = 10, kWidth = 32;

/// H_m diag(sigma) H_n with Householder reflections H = I - 2ww', so with these singular values.
std::vector<float> with_singular_values(const std::vector<double>& sigma) {
  const auto reflection = [](int size, int i, int j) {
    const double norm = size * (size + 1.0) * (2.0 * size + 1.0) / 6.0;
    return (i == j) - 2.0 * (i + 1) * (j + 1) / norm;
  };
  std::vector<float> a_t_nm;
  for (int row = 0; row < kRows; ++row) {
    for (int col = 0; col < kCols; ++col) {
      double sum = 0;
      for (int i = 0; i < kCols; ++i) {
        sum += reflection(kRows, row, i) * sigma[std::size_t(i)] * reflection(kCols, i, col);
      }
      a_t_nm.push_back(float(sum));
    }
  }
  return a_t_nm;
}

/// Singular values 1000 factor^i.
std::vector<double> geometric_decay(double factor) {
  std::vector<double> sigma;
  for (int i = 0; i < kCols; ++i) sigma.push_back(1000 * std::pow(factor, i));
  return sigma;
}

double squared_error(const SubspaceIteration::LowRankFactors& factors,
                     const std::vector<float>& a_t_nm) {
  double sum = 0;
  for (int row = 0; row < kRows; ++row) {
    for (int col = 0; col < kCols; ++col) {
      double value = a_t_nm[std::size_t(row) * kCols + std::size_t(col)];
      for (int i = 0; i < kRank; ++i) {
        value -= double(factors.u_mk[std::size_t(i) * kRows + std::size_t(row)]) *
                 double(factors.v_nk[std::size_t(i) * kCols + std::size_t(col)]);
      }
      sum += value * value;
    }
  }
  return sum;
}

double tail_energy(const std::vector<double>& sigma) {
  return std::accumulate(sigma.begin() + kRank, sigma.end(), 0.0,
                         [](double sum, double value) { return sum + value * value; });
}

TEST(SubspaceIteration, finds_the_leading_values_and_the_tail_energy) {
  const std::vector<double> sigma = geometric_decay(0.9);
  const auto a_t_nm = with_singular_values(sigma);
  SubspaceIteration iteration;
  iteration.start(a_t_nm, kRows, kCols, kRank, kWidth);
  iteration.apply_filter(100);
  const auto& factors = iteration.compute_factors();
  ASSERT_EQ(factors.ritz.size(), std::size_t(kWidth));
  ASSERT_EQ(factors.rayleigh_quotients.size(), std::size_t(kRank));
  for (std::size_t i = 0; i < kRank; ++i) {
    EXPECT_NEAR(factors.ritz[i], sigma[i] * sigma[i], 1e-4 * sigma[i] * sigma[i]);
    EXPECT_NEAR(factors.rayleigh_quotients[i], sigma[i] * sigma[i], 1e-4 * sigma[i] * sigma[i]);
  }
  EXPECT_NEAR(squared_error(factors, a_t_nm), tail_energy(sigma), 1e-4 * tail_energy(sigma));
}

TEST(SubspaceIteration, has_orthonormal_left_vectors_beside_a_dominant_one) {
  std::vector<double> sigma = geometric_decay(0.95);
  sigma[0] = 1e6;
  const auto a_t_nm = with_singular_values(sigma);
  SubspaceIteration iteration;
  iteration.start(a_t_nm, kRows, kCols, kRank, kWidth);
  iteration.apply_filter(100);
  const auto& u = iteration.compute_factors().u_mk;
  for (std::size_t i = 0; i < kRank; ++i) {
    for (std::size_t j = 0; j < kRank; ++j) {
      const double product = std::inner_product(u.begin() + std::ptrdiff_t(i * kRows),
                                                u.begin() + std::ptrdiff_t((i + 1) * kRows),
                                                u.begin() + std::ptrdiff_t(j * kRows), 0.0);
      EXPECT_NEAR(product, i == j, 1e-4);
    }
  }
}

TEST(SubspaceIteration, reduces_the_error_with_every_filter) {
  const auto a_t_nm = with_singular_values(geometric_decay(0.97));
  SubspaceIteration iteration;
  iteration.start(a_t_nm, kRows, kCols, kRank, kWidth);
  double left = squared_error(iteration.compute_factors(), a_t_nm);
  for (const double amplification : {2, 2, 2}) {
    iteration.apply_filter(amplification);
    const double now = squared_error(iteration.compute_factors(), a_t_nm);
    EXPECT_LT(now, left);
    left = now;
  }
}

TEST(SubspaceIteration, reduces_the_error_more_with_a_larger_amplification) {
  const auto a_t_nm = with_singular_values(geometric_decay(0.99));
  std::vector<double> left;
  for (const double amplification : {2, 1000}) {
    SubspaceIteration iteration;
    iteration.start(a_t_nm, kRows, kCols, kRank, kWidth);
    iteration.apply_filter(amplification);
    left.push_back(squared_error(iteration.compute_factors(), a_t_nm));
  }
  EXPECT_LT(left[1], left[0]);
}

/// The missed energy as a share of the optimal error. Without the last term of the recurrence it is
/// 2.5 times as large for the first spectrum. If that term is not scaled like the others, it is 3
/// to 50 times as large for the others.
TEST(SubspaceIteration, filters_as_the_chebyshev_polynomial) {
  const struct {
    double factor, amplification, max_missed;
  } cases[] = {{0.99, 20, 7e-6}, {0.95, 20, 8e-8}, {0.96, 10, 1e-7}, {0.97, 100, 8e-8}};
  for (const auto& [factor, amplification, max_missed] : cases) {
    const std::vector<double> sigma = geometric_decay(factor);
    const auto a_t_nm = with_singular_values(sigma);
    SubspaceIteration iteration;
    iteration.start(a_t_nm, kRows, kCols, kRank, kWidth);
    iteration.apply_filter(amplification);
    EXPECT_LT(squared_error(iteration.compute_factors(), a_t_nm) / tail_energy(sigma) - 1,
              max_missed)
        << factor;
  }
}

TEST(SubspaceIteration, handles_low_rank_and_zero_matrices) {
  for (const int rank : {0, 3}) {
    std::vector<double> sigma(kCols, 0.0);
    std::fill_n(sigma.begin(), rank, 500.0);
    const auto a_t_nm = with_singular_values(sigma);
    SubspaceIteration iteration;
    iteration.start(a_t_nm, kRows, kCols, kRank, kWidth);
    iteration.apply_filter(30);
    EXPECT_LT(squared_error(iteration.compute_factors(), a_t_nm), 1e-6);
  }
}

TEST(SubspaceIteration, is_independent_of_earlier_use) {
  const auto a_t_nm = with_singular_values(geometric_decay(0.9));
  const auto other = with_singular_values(geometric_decay(0.7));
  struct Size {
    int rows, cols, width;
  };
  for (const Size& size : {Size{kCols, kCols, 16}, Size{134, 134, 48}}) {
    SubspaceIteration fresh, used;
    used.start(other, size.rows, size.cols, 4, size.width);
    used.apply_filter(30);
    used.compute_factors();
    for (SubspaceIteration* iteration : {&fresh, &used}) {
      iteration->start(a_t_nm, kRows, kCols, kRank, kWidth);
      iteration->apply_filter(5);
    }
    const auto &a = fresh.compute_factors(), &b = used.compute_factors();
    EXPECT_EQ(a.u_mk, b.u_mk) << size.cols;
    EXPECT_EQ(a.v_nk, b.v_nk) << size.cols;
  }
}

TEST(SubspaceColumnCount, exceeds_the_rank) {
  for (int rank = 1; rank < 300; ++rank) {
    EXPECT_GE(subspace_columns(rank), rank + 20);
    EXPECT_GE(4 * subspace_columns(rank), 5 * rank - 3);
  }
}

}  // namespace
}  // namespace eckart::compute::cpu
