#include "compute/certificate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/quality.hpp"

namespace eckart {
namespace {

/// A spectrum of 64 values falling to half each time, of which the first eight are known exactly.
struct Falling {
  std::vector<double> ritz, refined;
  double squared_norm = 0;
  Falling() {
    for (int i = 0; i < 64; ++i) squared_norm += value(i);
    for (int i = 0; i < 8; ++i) ritz.push_back(value(i));
    refined = ritz;
  }
  static double value(int i) { return 1e12 * std::pow(0.5, i); }
  double left(int k) const {
    double sum = squared_norm;
    for (int i = 0; i < k; ++i) sum -= refined[std::size_t(i)];
    return sum;
  }
  double bound(int k) const {
    return most_loss_db({ritz, refined, 64}, k, left(k), squared_norm, Precision::float64);
  }
};

TEST(Certificate, is_nearly_nothing_where_the_space_is_invariant) {
  const Falling spectrum;
  EXPECT_GT(spectrum.bound(4), 0);
  EXPECT_LT(spectrum.bound(4), 1e-4);
}

TEST(Certificate, covers_what_a_mixed_pair_has_lost) {
  // u_4 is turned by an angle towards the ninth direction, which is outside the space.
  for (const double angle : {0.01, 0.1, 0.3}) {
    Falling spectrum;
    const double c2 = std::pow(std::cos(angle), 2), s2 = 1 - c2;
    const double inside = Falling::value(3), outside = Falling::value(8);
    spectrum.ritz[3] = c2 * inside + s2 * outside;  // of A Q
    // the left vector is A q, normalised: further to the stronger direction
    spectrum.refined[3] =
        (c2 * inside * inside + s2 * outside * outside) / (c2 * inside + s2 * outside);
    const double optimum = Falling().left(4), found = spectrum.left(4);
    const double lost_db = 10 * std::log10(found / optimum);
    EXPECT_GT(lost_db, 0);
    EXPECT_GE(spectrum.bound(4), lost_db);
    EXPECT_LE(spectrum.bound(4), 10 * lost_db + 1e-6) << "of use only if it is not far too much";
  }
}

/// The value half-way is taken for what is outside the space, and may be less than that.
TEST(Certificate, covers_what_a_direction_stronger_than_the_value_half_way_has_lost) {
  for (const double stronger : {1.2, 1.5, 1.7}) {
    Falling spectrum;
    const double c2 = std::pow(std::cos(0.05), 2), s2 = 1 - c2;
    const double inside = Falling::value(3), outside = stronger * Falling::value(6);
    spectrum.squared_norm += outside;
    const double optimum = spectrum.left(4);
    spectrum.ritz[3] = c2 * inside + s2 * outside;
    spectrum.refined[3] =
        (c2 * inside * inside + s2 * outside * outside) / (c2 * inside + s2 * outside);
    const double lost_db = 10 * std::log10(spectrum.left(4) / optimum);
    EXPECT_GT(lost_db, 1e-6);
    EXPECT_GE(spectrum.bound(4), lost_db) << stronger;
  }
}

/// By how much rounding makes an error larger at worst, of the squared norm `norm` and the optimum
/// `error`: that of the factors points the same way, and sums in float32 are off by all they can
/// be.
double worst_rounding(Precision precision, int k, int n, double error, double norm) {
  const double epsilon = std::numeric_limits<double>::epsilon();
  const auto of_factors = [&](double share) {
    return std::pow(std::sqrt(error) + share * std::sqrt(norm), 2) - error;
  };
  const double of_sums = (1e-10 + k * 1e-12) * norm + 1e-5 * error;
  switch (precision) {
    case Precision::halves:
      return of_sums;
    case Precision::float32:
      return of_factors(1e-7) + of_sums;
    case Precision::squared_float64:
      return n * epsilon * norm;
    case Precision::float64:
      break;
  }
  return of_factors(n * epsilon);
}

TEST(Certificate, covers_rounding_that_all_points_the_same_way) {
  constexpr int k = 4, n = 64;
  Falling spectrum;
  const RitzValues values{spectrum.ritz, spectrum.refined, n};
  for (const Precision precision :
       {Precision::halves, Precision::float32, Precision::squared_float64, Precision::float64}) {
    for (const double share : {1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-2}) {
      const double norm = spectrum.squared_norm, optimum = share * norm;
      const double rounding = worst_rounding(precision, k, n, optimum, norm);
      const double error = optimum + rounding;
      const double lost_db = -10 * std::log10(1 - rounding / error);
      const double slack_db = 1e-13;  // of this arithmetic
      for (const double bound : {most_loss_db(k, n, error, norm, precision),
                                 most_loss_db(values, k, error, norm, precision)}) {
        EXPECT_GE(bound, lost_db - slack_db) << int(precision) << ", " << share;
        EXPECT_LE(bound, 1.2 * lost_db + slack_db) << int(precision) << ", " << share;
      }
    }
  }
}

TEST(Certificate, says_nothing_where_the_space_may_have_missed_more_than_it_holds) {
  Falling spectrum;
  spectrum.squared_norm += 64 * 2 * spectrum.ritz[3];  // spread over what is outside
  EXPECT_EQ(spectrum.bound(4), std::numeric_limits<double>::infinity());
}

TEST(Certificate, counts_what_is_left_by_the_error_and_not_beside_the_largest_value) {
  // Columns of the space have come to nothing but rounding, and float32 knows the largest value to
  // a millionth: what is missing is far below that.
  const std::vector<double> ritz{1.7e10 * (1 + 1e-6), 5, 5, 5, 4, 4, 0, 0};
  const double missing = 40;
  EXPECT_EQ(
      most_loss_db({ritz, ritz, 16}, 4, 8 + missing, 1.7e10 + 23 + missing, Precision::float32),
      std::numeric_limits<double>::infinity());
  EXPECT_EQ(
      most_loss_db({ritz, ritz, 8}, 4, 8 + missing, 1.7e10 + 23 + missing, Precision::float32),
      std::numeric_limits<double>::infinity())
      << "what should hold all of the image, and does not";
}

TEST(Certificate, fears_the_worst_where_what_is_outside_is_more_than_what_the_space_has_left) {
  // As rounding leaves it: 22 directions of the fifth's kind have left the space.
  const std::vector<double> ritz{1e9, 9, 9, 9, 4.5, 0.1, 0.05, 0};
  EXPECT_EQ(most_loss_db({ritz, ritz, 109}, 5, 198.15, 1e9 + 229.65, Precision::float32),
            std::numeric_limits<double>::infinity());
}

TEST(Certificate, says_nothing_where_values_outside_may_be_larger_than_those_inside) {
  const std::vector<double> ritz{9.9, 9.8, 9.7, 9.6, 9.5, 9.4, 9.3, 9.2}, refined(8, 9.95);
  const auto bound = [&](double mean_outside) {
    const double residual = 9.5 + 9.4 + 9.3 + 9.2 + 56 * mean_outside;
    return most_loss_db({ritz, refined, 64}, 4, residual, residual + 39, Precision::float64);
  };
  EXPECT_EQ(bound(9), std::numeric_limits<double>::infinity());
  EXPECT_EQ(bound(5), std::numeric_limits<double>::infinity());
  EXPECT_LT(bound(4), 1) << "and far from any limit where the space holds what is large";
}

TEST(Certificate, trusts_no_direction_that_carries_less_than_its_value) {
  Falling spectrum;
  spectrum.refined[2] = 0.9 * spectrum.ritz[2];
  EXPECT_EQ(spectrum.bound(4), std::numeric_limits<double>::infinity());
}

TEST(Certificate, proves_little_where_rounding_may_have_made_the_error) {
  const Falling spectrum;
  const RitzValues values{spectrum.ritz, spectrum.refined, 64};
  const auto bound = [&](double share, Precision precision) {
    return most_loss_db(values, 4, share * spectrum.squared_norm, spectrum.squared_norm, precision);
  };
  EXPECT_GT(bound(1e-9, Precision::halves), kMostLossDb);
  EXPECT_LT(bound(1e-6, Precision::halves), kMostLossDb);
  EXPECT_GT(bound(1e-9, Precision::float32), kMostLossDb);
  EXPECT_LT(bound(1e-7, Precision::float32), kMostLossDb);
  EXPECT_LT(bound(1e-9, Precision::float64), kMostLossDb);
}

TEST(Certificate, trusts_no_direction_that_is_mostly_a_stronger_ones_rounding) {
  Falling spectrum;
  const double residual = spectrum.left(4);
  spectrum.refined[3] = 3 * spectrum.ritz[3];
  EXPECT_EQ(most_loss_db({spectrum.ritz, spectrum.refined, 64}, 4, residual, spectrum.squared_norm,
                         Precision::float64),
            std::numeric_limits<double>::infinity());
}

TEST(Certificate, of_a_backward_stable_method_tells_next_to_nothing_from_nothing) {
  const double norm = 256.0 * 256 * 6e4 * 6e4;
  EXPECT_GT(most_loss_db(2, 256, 1, norm, Precision::squared_float64), kMostLossDb);
  EXPECT_LT(most_loss_db(2, 256, 1, norm, Precision::float64), 1e-4);
}

TEST(Certificate, no_error_is_no_loss) {
  const std::vector<double> none(4, 0.0);
  EXPECT_EQ(most_loss_db({none, none, 8}, 2, 0, 0, Precision::float32), 0);
  EXPECT_EQ(most_loss_db(20, 256, 0, 1e9, Precision::float64), 0);
}

TEST(Certificate, an_error_that_changes_no_pixel_is_no_loss) {
  const Falling spectrum;
  const RitzValues values{spectrum.ritz, spectrum.refined, 64};
  EXPECT_EQ(most_loss_db(values, 4, 0.2, spectrum.squared_norm, Precision::halves), 0);
  EXPECT_GT(most_loss_db(values, 4, 0.3, spectrum.squared_norm, Precision::halves), kMostLossDb);
}

TEST(Certificate, of_float64_is_small_against_any_error_that_can_be_seen) {
  EXPECT_LT(most_loss_db(20, 256, 1e4, 1e9, Precision::float64), 1e-7);
}

}  // namespace
}  // namespace eckart
