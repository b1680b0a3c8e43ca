#include "core/quality.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace eckart {
namespace {

TEST(Psnr, is_zero_if_every_sample_is_off_by_the_peak) {
  EXPECT_NEAR(psnr_db(255.0 * 255 * 100, 100, 255), 0, 1e-12);
  EXPECT_NEAR(psnr_db(65535.0 * 65535 * 7, 7, 65535), 0, 1e-12);
}

TEST(Psnr, is_that_of_the_peak_for_a_mean_squared_error_of_1) {
  EXPECT_NEAR(psnr_db(1000, 1000, 255), 48.1308, 1e-4);
  EXPECT_NEAR(psnr_db(1000, 1000, 65535), 96.3295, 1e-4);
}

TEST(Psnr, rises_by_10_db_if_the_error_falls_tenfold) {
  EXPECT_NEAR(psnr_db(1, 100, 255) - psnr_db(10, 100, 255), 10, 1e-12);
}

TEST(Psnr, is_infinite_for_an_exact_image) {
  EXPECT_TRUE(std::isinf(psnr_db(0, 100, 255)));
  EXPECT_GT(psnr_db(0, 100, 255), 0);
}

TEST(Psnr, does_not_overflow_with_2_to_the_40_samples) {
  const std::size_t samples = std::size_t(1) << 40;
  EXPECT_NEAR(psnr_db(double(samples), samples, 255), 48.1308, 1e-4);
}

TEST(FinitePsnr, replaces_only_infinity) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(finite_psnr_db(kInfinity), 99);
  EXPECT_EQ(finite_psnr_db(-kInfinity), -99);
  for (const double value : {-120.0, 35.0, 150.0}) EXPECT_EQ(finite_psnr_db(value), value);
}

TEST(PsnrLoss, is_the_ratio_of_the_errors_in_db) {
  EXPECT_NEAR(loss_db(200, 100), 10 * std::log10(2), 1e-12);
  EXPECT_NEAR(loss_db(3e8, 2e8), loss_db(3, 2), 1e-12);
  EXPECT_EQ(loss_db(100, 100), 0);
  EXPECT_LT(loss_db(99, 100), 0);
}

TEST(PsnrLoss, is_zero_for_negligible_errors) {
  EXPECT_EQ(loss_db(0.24, 0), 0);
  EXPECT_EQ(loss_db(0, 0.24), 0);
  EXPECT_EQ(loss_db(0, 0), 0);
}

TEST(PsnrLoss, is_positive_above_the_negligible_error) {
  EXPECT_GT(loss_db(0.26, 0.24), 0.1);
  EXPECT_GT(loss_db(1, 0), 6);
  EXPECT_TRUE(std::isfinite(loss_db(1, 0)));
}

TEST(SquaredError, is_negligible_below_that_of_half_a_level) {
  EXPECT_TRUE(is_negligible(0));
  EXPECT_TRUE(is_negligible(0.2499));
  EXPECT_FALSE(is_negligible(0.25));
  EXPECT_FALSE(is_negligible(std::numeric_limits<double>::quiet_NaN()));
}

TEST(ExactReconstruction, has_the_pixels_of_the_input_and_a_finite_residual) {
  EXPECT_TRUE(is_exact_reconstruction(0, 0));
  EXPECT_TRUE(is_exact_reconstruction(0, 1000));
  EXPECT_FALSE(is_exact_reconstruction(1, 0));
  EXPECT_FALSE(is_exact_reconstruction(0, std::numeric_limits<double>::quiet_NaN()));
  EXPECT_FALSE(is_exact_reconstruction(0, std::numeric_limits<double>::infinity()));
}

TEST(LossBound, is_the_larger_of_two_and_unproven_if_one_is) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(max_loss_bound_db(1, 2), 2);
  EXPECT_EQ(max_loss_bound_db(2, 1), 2);
  EXPECT_TRUE(std::isnan(max_loss_bound_db(kNan, 1)));
  EXPECT_TRUE(std::isnan(max_loss_bound_db(1, kNan)));
  EXPECT_EQ(kMaxLossDb, 0.01);
}

}  // namespace
}  // namespace eckart
