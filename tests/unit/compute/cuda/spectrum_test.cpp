#include "compute/cuda/layout/spectrum.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "compute/cuda/layout/packing.hpp"

namespace eckart::cuda {
namespace {

const Plane kPlane = packed_plane({4, 6, 1, Depth::u8}, 0, 0);
const Plane kDeepPlane = packed_plane({4, 6, 1, Depth::u16}, 0, 0);

TEST(CudaSpectrum, is_sigma_squared_the_largest_first) {
  const std::vector<double> squares{9, 4, 1}, ascending{1, 4, 9}, sigma{3, 2, 1};
  EXPECT_EQ(squared_values({ValueOrder::ascending_squares, 3}, ascending, 1), squares);
  EXPECT_EQ(squared_values({ValueOrder::descending, 3}, sigma, 1), squares);
  EXPECT_EQ(squared_values({ValueOrder::ritz, 3}, squares, 1), squares);
}

TEST(CudaSpectrum, has_the_refined_values_behind_the_others) {
  const std::vector<double> values{9, 4, 1, 9.5, 4.5};
  EXPECT_EQ(squared_values({ValueOrder::ritz, 3, 2}, values, 1), values);
}

/// Planes of 16 bits were scaled down for float16, and so were their singular values.
TEST(CudaSpectrum, of_halves_is_that_of_the_samples) {
  const Spectrum halves{ValueOrder::ritz, 2, 0, Precision::halves};
  const std::vector<double> values{9, 4};
  EXPECT_EQ(squared_values(halves, values, 1), values);
  EXPECT_EQ(squared_values(halves, values, 2),
            (std::vector<double>{9 * 512.0 * 512, 4 * 512.0 * 512}));
  const Spectrum float64{ValueOrder::ritz, 2, 0, Precision::squared_float64};
  EXPECT_EQ(squared_values(float64, values, 2), values);
}

TEST(CudaSpectrum, ignores_what_is_behind_its_values) {
  const std::vector<double> more{9, 4, 1, 777};
  EXPECT_EQ(squared_values({ValueOrder::ritz, 3}, more, 1), (std::vector<double>{9, 4, 1}));
}

TEST(CudaSpectrum, gives_energy_and_certificate_of_a_full_decomposition) {
  const std::vector<double> ascending{1, 2, 3, 10};
  PlaneResult result{.rank = 2, .residual = 3};
  rate(result, {ValueOrder::ascending_squares, 4, 0, Precision::squared_float64}, ascending, kPlane,
       16);
  EXPECT_DOUBLE_EQ(result.energy, 13.0 / 16);
  EXPECT_EQ(result.most_loss_db, most_loss_db(2, 4, 3, 16, Precision::squared_float64));
  EXPECT_GT(result.most_loss_db, 0);
}

TEST(CudaSpectrum, gives_energy_and_certificate_of_subspace_iteration) {
  const std::vector<double> ritz{10e6, 3e6, 1e6, 5e5}, refined{10.01e6, 3.01e6};
  std::vector<double> values = ritz;
  values.insert(values.end(), refined.begin(), refined.end());
  PlaneResult result{.rank = 2, .residual = 2e6};
  rate(result, {ValueOrder::ritz, 4, 2, Precision::squared_float64}, values, kPlane, 15e6);
  EXPECT_DOUBLE_EQ(result.energy, 13.0 / 15);
  EXPECT_EQ(result.most_loss_db,
            most_loss_db({ritz, refined, 4}, 2, 2e6, 15e6, Precision::squared_float64));
  EXPECT_GT(result.most_loss_db, 0);
}

/// The certificate compares values with the residual, which is of the samples.
TEST(CudaSpectrum, compares_what_float16_scaled_with_an_error_that_it_did_not) {
  const std::vector<double> of_samples{10e9, 3e9, 1e9, 5e8, 10.01e9, 3.01e9};
  std::vector<double> scaled = of_samples;
  for (double& value : scaled) value /= 512.0 * 512;
  PlaneResult deep{.rank = 2, .residual = 2e9}, plain = deep;
  rate(deep, {ValueOrder::ritz, 4, 2, Precision::halves}, scaled, kDeepPlane, 15e9);
  rate(plain, {ValueOrder::ritz, 4, 2, Precision::halves}, of_samples, kPlane, 15e9);
  EXPECT_NEAR(deep.most_loss_db, plain.most_loss_db, 1e-9);
  EXPECT_LT(plain.most_loss_db, 1);
}

TEST(CudaSpectrum, a_black_plane_has_all_of_its_energy) {
  const std::vector<double> none(4, 0.0);
  for (const ValueOrder order :
       {ValueOrder::ascending_squares, ValueOrder::descending, ValueOrder::ritz}) {
    PlaneResult result{.rank = 2};
    rate(result, {order, 2, 2}, none, kPlane, 0);
    EXPECT_EQ(result.energy, 1);
    EXPECT_EQ(result.most_loss_db, 0);
  }
}

}  // namespace
}  // namespace eckart::cuda
