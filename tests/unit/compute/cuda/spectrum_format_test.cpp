#include "compute/cuda/layout/spectrum_format.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "compute/cuda/layout/packing.hpp"

namespace eckart::compute::cuda {
namespace {

const PlaneLayout kPlane = packed_plane({4, 6, 1, Depth::u8}, 0, 0);
const PlaneLayout kDeepPlane = packed_plane({4, 6, 1, Depth::u16}, 0, 0);

TEST(CudaSpectrumFormat, converts_values_to_descending_squares) {
  const std::vector<double> squares{9, 4, 1}, ascending{1, 4, 9}, sigma{3, 2, 1};
  EXPECT_EQ(squared_values({ValueOrder::ascending_squares, 3}, ascending, 1), squares);
  EXPECT_EQ(squared_values({ValueOrder::descending, 3}, sigma, 1), squares);
  EXPECT_EQ(squared_values({ValueOrder::ritz, 3}, squares, 1), squares);
}

TEST(CudaSpectrumFormat, keeps_refined_values_after_the_others) {
  const std::vector<double> values{9, 4, 1, 9.5, 4.5};
  EXPECT_EQ(squared_values({ValueOrder::ritz, 3, 2}, values, 1), values);
}

/// 16-bit planes are scaled down for float16, and so are their singular values.
TEST(CudaSpectrumFormat, undoes_the_float16_scale) {
  const SpectrumFormat float16{ValueOrder::ritz, 2, 0, Precision::float16};
  const std::vector<double> values{9, 4};
  EXPECT_EQ(squared_values(float16, values, 1), values);
  EXPECT_EQ(squared_values(float16, values, 2),
            (std::vector<double>{9 * 512.0 * 512, 4 * 512.0 * 512}));
  const SpectrumFormat float64{ValueOrder::ritz, 2, 0, Precision::float64_gram};
  EXPECT_EQ(squared_values(float64, values, 2), values);
}

TEST(CudaSpectrumFormat, ignores_trailing_values) {
  const std::vector<double> more{9, 4, 1, 777};
  EXPECT_EQ(squared_values({ValueOrder::ritz, 3}, more, 1), (std::vector<double>{9, 4, 1}));
}

TEST(CudaSpectrumFormat, sets_energy_and_loss_of_a_full_decomposition) {
  const std::vector<double> ascending{1, 2, 3, 10};
  PlaneResult result{.rank = 2, .residual = 3};
  set_spectral_results(result, {ValueOrder::ascending_squares, 4, 0, Precision::float64_gram},
                       ascending, kPlane, 16);
  EXPECT_DOUBLE_EQ(result.energy, 13.0 / 16);
  EXPECT_EQ(result.loss_estimate_db, loss_estimate_db(2, 4, 3, 16, Precision::float64_gram));
  EXPECT_GT(result.loss_estimate_db, 0);
}

TEST(CudaSpectrumFormat, has_the_error_of_triplets_of_subspace_iteration) {
  const SpectrumFormat ritz{ValueOrder::ritz, 4, 3, Precision::float64_gram};
  const std::vector<double> values{8, 2, 1e-13, 0, 10, 2, 4e-13};
  EXPECT_DOUBLE_EQ(triplet_error(ritz, values, kPlane, 2, 12), 0.2);
  EXPECT_DOUBLE_EQ(triplet_error(ritz, values, kPlane, 3, 12), 0.2) << "the third is rounding";
  EXPECT_DOUBLE_EQ(triplet_error(ritz, values, kPlane, 3, 0.12), 0.75);
  EXPECT_EQ(triplet_error({ValueOrder::ascending_squares, 4}, values, kPlane, 2, 12), 0);
}

TEST(CudaSpectrumFormat, sets_energy_and_loss_of_subspace_iteration) {
  const std::vector<double> ritz{10e6, 3e6, 1e6, 5e5}, rayleigh_quotients{10.01e6, 3.01e6};
  std::vector<double> values = ritz;
  values.insert(values.end(), rayleigh_quotients.begin(), rayleigh_quotients.end());
  PlaneResult result{.rank = 2, .residual = 2e6};
  set_spectral_results(result, {ValueOrder::ritz, 4, 2, Precision::float64_gram}, values, kPlane,
                       15e6);
  EXPECT_DOUBLE_EQ(result.energy, 13.0 / 15);
  EXPECT_EQ(result.loss_estimate_db,
            estimate_loss({ritz, rayleigh_quotients, 4}, 2, 2e6, 15e6, Precision::float64_gram).db);
  EXPECT_GT(result.loss_estimate_db, 0);
}

/// The certificate compares the values with the residual, which has the scale of the samples.
TEST(CudaSpectrumFormat, undoes_the_float16_scale_before_certifying) {
  const std::vector<double> of_samples{10e9, 3e9, 1e9, 5e8, 10.01e9, 3.01e9};
  std::vector<double> scaled = of_samples;
  for (double& value : scaled) value /= 512.0 * 512;
  PlaneResult deep{.rank = 2, .residual = 2e9}, plain = deep;
  set_spectral_results(deep, {ValueOrder::ritz, 4, 2, Precision::float16}, scaled, kDeepPlane,
                       15e9);
  set_spectral_results(plain, {ValueOrder::ritz, 4, 2, Precision::float16}, of_samples, kPlane,
                       15e9);
  EXPECT_NEAR(deep.loss_estimate_db, plain.loss_estimate_db, 1e-9);
  EXPECT_LT(plain.loss_estimate_db, 1);
}

/// The entries of A'A are rounded.
TEST(CudaSpectrumFormat, proves_less_for_floats_than_for_integers) {
  const std::vector<double> ascending{1, 2, 1e10, 1e11};
  PlaneResult integers{.rank = 2, .residual = 3, .squared_error = 3}, floats = integers;
  const SpectrumFormat gram{ValueOrder::ascending_squares, 4, 0, Precision::float64_gram};
  set_spectral_results(integers, gram, ascending, kPlane, 1.1e11 + 3);
  set_spectral_results(floats, gram, ascending, packed_plane({4, 6, 1, Depth::f32}, 0, 0, 8),
                       1.1e11 + 3);
  EXPECT_GT(floats.loss_bound_db, integers.loss_bound_db);
}

TEST(CudaSpectrumFormat, sets_energy_one_for_a_black_plane) {
  const std::vector<double> none(4, 0.0);
  for (const ValueOrder order :
       {ValueOrder::ascending_squares, ValueOrder::descending, ValueOrder::ritz}) {
    PlaneResult result{.rank = 2};
    set_spectral_results(result, {order, 2, 2}, none, kPlane, 0);
    EXPECT_EQ(result.energy, 1);
    EXPECT_EQ(result.loss_estimate_db, 0);
  }
}

}  // namespace
}  // namespace eckart::compute::cuda
