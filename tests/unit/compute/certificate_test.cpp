#include "compute/certificate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "compute/backend.hpp"
#include "core/quality.hpp"

namespace eckart::compute {
namespace {

/// 64 squared singular values, each half of the one before. The first eight are known exactly.
struct DecayingSpectrum {
  std::vector<double> ritz, rayleigh_quotients;
  double squared_norm = 0;
  DecayingSpectrum() {
    for (int i = 0; i < 64; ++i) squared_norm += value(i);
    for (int i = 0; i < 8; ++i) ritz.push_back(value(i));
    rayleigh_quotients = ritz;
  }
  static double value(int i) { return 1e12 * std::pow(0.5, i); }
  double tail_energy(int k) const {
    double sum = squared_norm;
    for (int i = 0; i < k; ++i) sum -= rayleigh_quotients[std::size_t(i)];
    return sum;
  }
  double loss_estimate(int k) const {
    return estimate_loss({ritz, rayleigh_quotients, 64}, k, tail_energy(k), squared_norm,
                         Precision::float64)
        .db;
  }
};

TEST(Certificate, is_tiny_for_an_invariant_subspace) {
  const DecayingSpectrum spectrum;
  EXPECT_GT(spectrum.loss_estimate(4), 0);
  EXPECT_LT(spectrum.loss_estimate(4), 1e-4);
}

TEST(Certificate, bounds_the_loss_of_a_rotated_ritz_pair) {
  // u_4 is rotated by an angle towards the ninth direction, which is outside the subspace.
  for (const double angle : {0.01, 0.1, 0.3}) {
    DecayingSpectrum spectrum;
    const double c2 = std::pow(std::cos(angle), 2), s2 = 1 - c2;
    const double inside = DecayingSpectrum::value(3), outside = DecayingSpectrum::value(8);
    spectrum.ritz[3] = c2 * inside + s2 * outside;  // of A Q
    // The left vector is A q, normalized, which is closer to the stronger direction.
    spectrum.rayleigh_quotients[3] =
        (c2 * inside * inside + s2 * outside * outside) / (c2 * inside + s2 * outside);
    const double optimum = DecayingSpectrum().tail_energy(4), found = spectrum.tail_energy(4);
    const double lost_db = 10 * std::log10(found / optimum);
    EXPECT_GT(lost_db, 0);
    EXPECT_GE(spectrum.loss_estimate(4), lost_db);
    EXPECT_LE(spectrum.loss_estimate(4), 10 * lost_db + 1e-6)
        << "the estimate is useful only if it is not much too large";
  }
}

/// The estimate uses the middle value for what is outside the subspace. The true value may be
/// larger.
TEST(Certificate, bounds_the_loss_of_a_missing_direction_above_the_middle_value) {
  for (const double stronger : {1.2, 1.5, 1.7}) {
    DecayingSpectrum spectrum;
    const double c2 = std::pow(std::cos(0.05), 2), s2 = 1 - c2;
    const double inside = DecayingSpectrum::value(3),
                 outside = stronger * DecayingSpectrum::value(6);
    spectrum.squared_norm += outside;
    const double optimum = spectrum.tail_energy(4);
    spectrum.ritz[3] = c2 * inside + s2 * outside;
    spectrum.rayleigh_quotients[3] =
        (c2 * inside * inside + s2 * outside * outside) / (c2 * inside + s2 * outside);
    const double lost_db = 10 * std::log10(spectrum.tail_energy(4) / optimum);
    EXPECT_GT(lost_db, 1e-6);
    EXPECT_GE(spectrum.loss_estimate(4), lost_db) << stronger;
  }
}

/// The largest increase of the error by rounding, for the squared norm `norm` and the optimum
/// `error`: factor errors are parallel to the residual, and float32 sums have their maximum error.
double worst_rounding(Precision precision, int k, int n, double error, double norm) {
  const double epsilon = std::numeric_limits<double>::epsilon();
  const auto of_factors = [&](double share) {
    return std::pow(std::sqrt(error) + share * std::sqrt(norm), 2) - error;
  };
  const double of_sums = (1e-10 + k * 1e-12) * norm + 1e-5 * error;
  switch (precision) {
    case Precision::float16:
      return of_sums;
    case Precision::float32:
      return of_factors(1e-7) + of_sums;
    case Precision::float64_gram:
      return n * epsilon * norm;
    case Precision::float64:
      break;
  }
  return of_factors(n * epsilon);
}

TEST(Certificate, bounds_worst_case_rounding) {
  constexpr int k = 4, n = 64;
  DecayingSpectrum spectrum;
  const RitzValues values{spectrum.ritz, spectrum.rayleigh_quotients, n};
  for (const Precision precision :
       {Precision::float16, Precision::float32, Precision::float64_gram, Precision::float64}) {
    for (const double share : {1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-2}) {
      const double norm = spectrum.squared_norm, optimum = share * norm;
      const double rounding = worst_rounding(precision, k, n, optimum, norm);
      const double error = optimum + rounding;
      const double lost_db = -10 * std::log10(1 - rounding / error);
      const double slack_db = 1e-13;  // rounding of this test
      for (const double loss_estimate : {loss_estimate_db(k, n, error, norm, precision),
                                         estimate_loss(values, k, error, norm, precision).db}) {
        EXPECT_GE(loss_estimate, lost_db - slack_db) << int(precision) << ", " << share;
        EXPECT_LE(loss_estimate, 1.2 * lost_db + slack_db) << int(precision) << ", " << share;
      }
    }
  }
}

TEST(Certificate, is_infinite_if_the_subspace_may_miss_more_than_it_contains) {
  DecayingSpectrum spectrum;
  spectrum.squared_norm += 64 * 2 * spectrum.ritz[3];  // spread over the outside directions
  EXPECT_EQ(spectrum.loss_estimate(4), std::numeric_limits<double>::infinity());
}

TEST(Certificate, computes_the_outside_energy_from_the_residual) {
  // Some columns of the subspace are only rounding, and float32 gives the largest value to 1e-6.
  // The missing energy is far below that error.
  const std::vector<double> ritz{1.7e10 * (1 + 1e-6), 5, 5, 5, 4, 4, 0, 0};
  const double missing = 40;
  EXPECT_EQ(
      estimate_loss({ritz, ritz, 16}, 4, 8 + missing, 1.7e10 + 23 + missing, Precision::float32).db,
      std::numeric_limits<double>::infinity());
  EXPECT_EQ(
      estimate_loss({ritz, ritz, 8}, 4, 8 + missing, 1.7e10 + 23 + missing, Precision::float32).db,
      std::numeric_limits<double>::infinity())
      << "with n = l the subspace should contain the whole image";
}

TEST(Certificate, is_infinite_if_the_outside_mean_exceeds_the_middle_value) {
  // After rounding, 22 directions like the fifth have left the subspace.
  const std::vector<double> ritz{1e9, 9, 9, 9, 4.5, 0.1, 0.05, 0};
  EXPECT_EQ(estimate_loss({ritz, ritz, 109}, 5, 198.15, 1e9 + 229.65, Precision::float32).db,
            std::numeric_limits<double>::infinity());
}

TEST(Certificate, is_infinite_if_outside_values_may_exceed_inside_values) {
  const std::vector<double> ritz{9.9, 9.8, 9.7, 9.6, 9.5, 9.4, 9.3, 9.2},
      rayleigh_quotients(8, 9.95);
  const auto loss_estimate = [&](double mean_outside) {
    const double residual = 9.5 + 9.4 + 9.3 + 9.2 + 56 * mean_outside;
    return estimate_loss({ritz, rayleigh_quotients, 64}, 4, residual, residual + 39,
                         Precision::float64)
        .db;
  };
  EXPECT_EQ(loss_estimate(9), std::numeric_limits<double>::infinity());
  EXPECT_EQ(loss_estimate(5), std::numeric_limits<double>::infinity());
  EXPECT_LT(loss_estimate(4), 1) << "finite if the subspace contains the large values";
}

TEST(Certificate, is_infinite_if_a_rayleigh_quotient_is_below_its_ritz_value) {
  DecayingSpectrum spectrum;
  spectrum.rayleigh_quotients[2] = 0.9 * spectrum.ritz[2];
  EXPECT_EQ(spectrum.loss_estimate(4), std::numeric_limits<double>::infinity());
}

/// Then Q is not orthonormal, and the reconstruction may have lost what is missing.
TEST(Certificate, counts_what_a_ritz_value_exceeds_its_rayleigh_quotient_by) {
  const DecayingSpectrum whole;
  DecayingSpectrum spectrum;
  const double excess = 1e-5 * spectrum.ritz[0];
  spectrum.rayleigh_quotients[0] = spectrum.ritz[0] - excess;
  const double residual = 2 * excess;
  const auto estimate = [&](const DecayingSpectrum& of) {
    return estimate_loss({of.ritz, of.rayleigh_quotients, 64}, 4, residual, of.squared_norm,
                         Precision::float64);
  };
  EXPECT_LT(estimate(whole).db, kMaxLossDb);
  EXPECT_NEAR(estimate(spectrum).db, 10 * std::log10(2), 0.1);
  EXPECT_EQ(estimate(spectrum).rounding_db, estimate(spectrum).db) << "more iterations do not help";
  spectrum.rayleigh_quotients[0] = (1 - 1e-6) * spectrum.ritz[0];
  EXPECT_LT(estimate(spectrum).db, kMaxLossDb) << "rounding";
}

TEST(Certificate, tells_rounding_from_what_more_iterations_would_find) {
  DecayingSpectrum spectrum;
  const double optimum = spectrum.tail_energy(4);
  const auto rounding_db = [&] {
    return estimate_loss({spectrum.ritz, spectrum.rayleigh_quotients, 64}, 4, optimum,
                         spectrum.squared_norm, Precision::float16)
        .rounding_db;
  };
  const double smallest = rounding_db();
  EXPECT_GT(smallest, 0);
  spectrum.rayleigh_quotients[3] = 1.2 * spectrum.ritz[3];
  EXPECT_EQ(rounding_db(), smallest) << "a rotated vector";
  spectrum.ritz[3] = 0.6 * spectrum.ritz[4];
  spectrum.rayleigh_quotients[3] = spectrum.ritz[3];
  EXPECT_EQ(rounding_db(), smallest) << "a missing direction";
  spectrum.rayleigh_quotients[3] = 0.9 * spectrum.ritz[3];
  EXPECT_EQ(rounding_db(), std::numeric_limits<double>::infinity()) << "not orthonormal";
}

TEST(Certificate, exceeds_the_tolerance_for_errors_at_rounding_level) {
  const DecayingSpectrum spectrum;
  const RitzValues values{spectrum.ritz, spectrum.rayleigh_quotients, 64};
  const auto loss_estimate = [&](double share, Precision precision) {
    return estimate_loss(values, 4, share * spectrum.squared_norm, spectrum.squared_norm, precision)
        .db;
  };
  EXPECT_GT(loss_estimate(1e-9, Precision::float16), kMaxLossDb);
  EXPECT_LT(loss_estimate(1e-6, Precision::float16), kMaxLossDb);
  EXPECT_GT(loss_estimate(1e-9, Precision::float32), kMaxLossDb);
  EXPECT_LT(loss_estimate(1e-7, Precision::float32), kMaxLossDb);
  EXPECT_LT(loss_estimate(1e-9, Precision::float64), kMaxLossDb);
}

TEST(Certificate, is_infinite_if_a_rayleigh_quotient_is_far_above_its_ritz_value) {
  DecayingSpectrum spectrum;
  const double residual = spectrum.tail_energy(4);
  spectrum.rayleigh_quotients[3] = 3 * spectrum.ritz[3];
  EXPECT_EQ(estimate_loss({spectrum.ritz, spectrum.rayleigh_quotients, 64}, 4, residual,
                          spectrum.squared_norm, Precision::float64)
                .db,
            std::numeric_limits<double>::infinity());
}

TEST(Certificate, is_tight_for_a_backward_stable_method) {
  const double norm = 256.0 * 256 * 6e4 * 6e4;
  EXPECT_GT(loss_estimate_db(2, 256, 1, norm, Precision::float64_gram), kMaxLossDb);
  EXPECT_LT(loss_estimate_db(2, 256, 1, norm, Precision::float64), 1e-4);
}

TEST(Certificate, is_zero_for_a_zero_error) {
  const std::vector<double> none(4, 0.0);
  EXPECT_EQ(estimate_loss({none, none, 8}, 2, 0, 0, Precision::float32).db, 0);
  EXPECT_EQ(loss_estimate_db(20, 256, 0, 1e9, Precision::float64), 0);
}

TEST(Certificate, is_zero_for_an_error_that_changes_no_pixel) {
  const DecayingSpectrum spectrum;
  const RitzValues values{spectrum.ritz, spectrum.rayleigh_quotients, 64};
  EXPECT_EQ(estimate_loss(values, 4, 0.2, spectrum.squared_norm, Precision::float16).db, 0);
  EXPECT_GT(estimate_loss(values, 4, 0.3, spectrum.squared_norm, Precision::float16).db,
            kMaxLossDb);
}

TEST(Certificate, is_small_in_float64_for_visible_errors) {
  EXPECT_LT(loss_estimate_db(20, 256, 1e4, 1e9, Precision::float64), 1e-7);
}

/// The values of a complete decomposition whose eigenvalues or singular values are wrong by the
/// whole backward error that is allowed, so that the optimum seems to be as large as possible.
std::vector<double> most_deceptive_squares(const std::vector<double>& sigma, int m,
                                           Precision precision) {
  constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
  const auto n = double(sigma.size());
  double squared_norm = 0;
  for (const double value : sigma) squared_norm += value * value;
  std::vector<double> squares;
  for (const double value : sigma) {
    if (precision == Precision::float64_gram)
      squares.push_back(
          std::max(0.0, value * value - kBackwardError * n * kEpsilon * squared_norm));
    else
      squares.push_back(std::pow(value + kBackwardError * (m + n) * kEpsilon * sigma.front(), 2));
  }
  return squares;
}

TEST(FullDecompositionLossBound, holds_for_the_largest_backward_error) {
  constexpr int kRows = 200;
  for (const double decay : {0.5, 0.7, 0.9}) {
    std::vector<double> sigma;
    for (int i = 0; i < 100; ++i) sigma.push_back(1e4 * std::pow(decay, i));
    double squared_norm = 0;
    for (const double value : sigma) squared_norm += value * value;
    for (const Precision precision : {Precision::float64_gram, Precision::float64}) {
      const std::vector<double> squares = most_deceptive_squares(sigma, kRows, precision);
      for (const int k : {1, 5, 10, 20, 50}) {
        double optimum = 0;
        for (std::size_t i = std::size_t(k); i < sigma.size(); ++i) optimum += sigma[i] * sigma[i];
        const double residual = 1.1 * optimum;
        if (is_negligible(residual)) continue;
        const double loss = 10 * std::log10(residual / optimum),
                     bound = full_decomposition_loss_bound_db(squares, k, kRows, int(sigma.size()),
                                                              residual, squared_norm, precision);
        EXPECT_GE(bound, loss) << "decay " << decay << ", rank " << k;
        if (optimum > 1e-3 * squared_norm) {
          EXPECT_LE(bound, loss + 1e-4);
        }
      }
    }
  }
}

TEST(FullDecompositionLossBound, is_infinite_below_the_resolution_of_the_gram_matrix) {
  const std::vector<double> squares = {1e12, 1e11, 1, 0};
  constexpr double kNorm = 1.1e12 + 1, kResidual = 1;
  EXPECT_EQ(full_decomposition_loss_bound_db(squares, 2, 256, 256, kResidual, kNorm,
                                             Precision::float64_gram),
            std::numeric_limits<double>::infinity());
  EXPECT_LT(
      full_decomposition_loss_bound_db(squares, 2, 256, 256, kResidual, kNorm, Precision::float64),
      kMaxLossDb);
}

TEST(FullDecompositionLossBound, is_zero_for_an_error_that_changes_no_pixel) {
  const std::vector<double> squares = {1e12, 0};
  EXPECT_EQ(
      full_decomposition_loss_bound_db(squares, 1, 256, 256, 0.2, 1e12, Precision::float64_gram),
      0);
}

TEST(PlaneResult, is_certified_by_its_estimate_or_also_by_its_bound) {
  PlaneResult result{.loss_estimate_db = 0.001};
  EXPECT_TRUE(result.is_certified(Certificate::estimate));
  EXPECT_FALSE(result.is_certified(Certificate::bound)) << "it has no bound";
  result.loss_bound_db = 0.02;
  EXPECT_FALSE(result.is_certified(Certificate::bound));
  result.loss_bound_db = 0.01;
  EXPECT_TRUE(result.is_certified(Certificate::bound));
  result.loss_estimate_db = 0.02;
  EXPECT_FALSE(result.is_certified(Certificate::estimate));
}

/// By the formula of the header, with values that are far from rounding.
TEST(Certificate, follows_its_formula) {
  struct Case {
    int k;
    double residual;  // what is inside the subspace from k on, and what is outside
    double mu;
  };
  const std::vector<double> ritz{1000, 500, 10, 8, 6, 4};
  const std::vector<double> quotients{1001, 501.5, 10, 8, 6, 4};
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const Case& expected :
       {Case{2, 28 + 10, 6},    // the value in the middle between k and the last
        Case{2, 28 + 50, 10},   // twice the mean of what is outside
        Case{2, 28 + 80, 80},   // the mean exceeds the middle value: all that is outside
        Case{1, 528 + 60, 12},  // the value in the middle is 8
        Case{1, 528 + 90, 90}}) {
    double missed = 0;
    for (int i = 0; i < expected.k; ++i) {
      const auto at = std::size_t(i);
      missed += (quotients[at] - ritz[at]) * expected.mu / (ritz[at] - expected.mu);
    }
    const LossEstimate estimate = estimate_loss({ritz, quotients, 16}, expected.k,
                                                expected.residual, 2000, Precision::float64);
    EXPECT_NEAR(estimate.db, -10 * std::log10(1 - 2 * missed / expected.residual), 1e-9)
        << expected.mu;
    EXPECT_LT(estimate.rounding_db, 1e-9);
  }
  const std::vector<double> weak{1000, 70, 10, 8, 6, 4};
  EXPECT_EQ(estimate_loss({weak, weak, 16}, 2, 28 + 80, 2000, Precision::float64).db, kInfinity)
      << "not all are above what is outside";
}

TEST(FullDecompositionLossBound, follows_its_formula) {
  constexpr double kEps = std::numeric_limits<double>::epsilon(), kNorm = 1e12;
  const auto db = [](double residual, double optimum) {
    return 10 * std::log10(residual * (1 + 1e-5) / optimum);
  };
  const std::vector<double> gram{kNorm};
  const auto gram_bound = [&](bool is_integer) {
    return full_decomposition_loss_bound_db(gram, 1, 1000, 2, 11, kNorm + 10,
                                            Precision::float64_gram, is_integer);
  };
  const double rounding = (50 + 1) * 2 * kEps * (kNorm + 10);
  EXPECT_NEAR(gram_bound(true), db(11, 10 - rounding), 1e-6);
  EXPECT_NEAR(gram_bound(false), db(11, 10 - rounding - 2 * 1002 * kEps * (kNorm + 10)), 1e-6)
      << "the products of floats are rounded";
  const std::vector<double> all{kNorm, 9, 1};
  const double delta = 50 * 1003 * kEps * 1e6;
  const double optimum = std::pow(std::sqrt(10.0) - std::sqrt(2.0) * delta, 2);
  EXPECT_NEAR(full_decomposition_loss_bound_db(all, 1, 1000, 3, 11, kNorm + 10, Precision::float64),
              db(11, optimum), 1e-9);
  EXPECT_EQ(full_decomposition_loss_bound_db(all, 1, 1000, 3, 9, kNorm + 10, Precision::float64), 0)
      << "not negative";
}

TEST(LossEstimate, is_infinite_if_rounding_exceeds_the_residual) {
  EXPECT_EQ(loss_estimate_db(20, 256, 1, 1e15, Precision::float32),
            std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace eckart::compute
