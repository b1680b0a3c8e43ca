#include "compute/cpu/float32_reconstruction.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "compute/cpu/as_tall.hpp"
#include "core/image.hpp"

namespace eckart::compute::cpu {
namespace {

constexpr int kChannels = 3, kChannel = 1;

/// More samples than a band has.
const ImageShape kTall{211, 190, kChannels}, kWide{190, 211, kChannels};

std::vector<float> random_factors(int rows, int rank, float scale, std::mt19937& random) {
  std::normal_distribution<float> normal(0, scale);
  std::vector<float> factors(std::size_t(rows) * std::size_t(rank));
  for (float& entry : factors) entry = normal(random);
  return factors;
}

double value(const SubspaceIteration::LowRankFactors& factors, int row, int col, int rank, int m,
             int n) {
  double sum = 0;
  for (int i = 0; i < rank; ++i)
    sum += double(factors.u_mk[std::size_t(row + i * m)]) *
           double(factors.v_nk[std::size_t(col + i * n)]);
  return sum;
}

class Float32ReconstructionTest : public ::testing::TestWithParam<ImageShape> {};

TEST_P(Float32ReconstructionTest, stores_each_rank_in_its_channel_and_tells_its_errors) {
  const std::vector<int> ranks{1, 4, 4, 9};
  std::mt19937 random(7);
  Image input(GetParam());
  std::generate_n(reinterpret_cast<std::uint8_t*>(input.data()), input.bytes(),
                  [&] { return std::uint8_t(random()); });
  PlaneTask<std::uint8_t> plane{
      as_tall(std::as_const(input).plane<std::uint8_t>(kChannel)), 255, {}};
  std::vector<Image> images(ranks.size());
  std::vector<PlaneResult> results(ranks.size());
  std::vector<const PlaneTask<std::uint8_t>::Output*> outputs;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    images[i] = Image(GetParam());
    std::fill_n(images[i].data(), images[i].bytes(), std::byte{77});
    plane.outputs.push_back(
        {ranks[i], as_tall(images[i].plane<std::uint8_t>(kChannel)), &results[i]});
  }
  for (const auto& output : plane.outputs) outputs.push_back(&output);
  const int m = plane.a_mn.rows, n = plane.a_mn.cols;
  SubspaceIteration::LowRankFactors factors;
  factors.u_mk = random_factors(m, ranks.back(), 1, random);
  factors.v_nk = random_factors(n, ranks.back(), 60, random);

  Float32Reconstruction reconstruction;
  const auto errors = reconstruction.store(
      factors, plane, std::span<const PlaneTask<std::uint8_t>::Output* const>(outputs));

  ASSERT_EQ(errors.size(), ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    double residual = 0, squared_error = 0;
    for (int row = 0; row < m; ++row) {
      for (int col = 0; col < n; ++col) {
        const double exact = value(factors, row, col, ranks[i], m, n);
        const int stored = plane.outputs[i].samples_mn(row, col);
        ASSERT_NEAR(stored, std::clamp(exact, 0.0, 255.0), 0.5 + 1e-3);
        residual += std::pow(exact - plane.a_mn(row, col), 2);
        squared_error += std::pow(stored - plane.a_mn(row, col), 2);
      }
    }
    EXPECT_NEAR(errors[i].residual, residual, 1e-5 * residual);
    EXPECT_EQ(errors[i].squared_error, squared_error);
    for (const int other : {0, 2}) {
      const auto untouched = images[i].plane<std::uint8_t>(other);
      for (int row = 0; row < untouched.rows; ++row) {
        for (int col = 0; col < untouched.cols; ++col) ASSERT_EQ(untouched(row, col), 77);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Float32ReconstructionTest, ::testing::Values(kTall, kWide),
                         [](const auto& test) {
                           return test.param.rows > test.param.cols ? "tall" : "wide";
                         });

}  // namespace
}  // namespace eckart::compute::cpu
