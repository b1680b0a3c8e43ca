#include "compute/cpu/samples.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace eckart::compute::cpu {
namespace {

template <class T>
class SamplesTest : public ::testing::Test {
 public:
  static constexpr int kPeak = (1 << (8 * sizeof(T))) - 1;

  static std::vector<T> draw(std::size_t count) {
    std::mt19937 random(5);
    std::vector<T> samples(count);
    for (T& sample : samples) sample = T(random() % (unsigned(kPeak) + 1));
    return samples;
  }
  static SquaredErrors compare(const std::vector<float>& values, const std::vector<T>& samples,
                               std::vector<T>& stored) {
    std::vector<float> originals(samples.size());
    to_float(std::span<const T>(samples), originals.data());
    stored.resize(samples.size());
    return round_and_compare(values.data(), originals.data(), std::span<const T>(samples), kPeak,
                             stored.data());
  }
};
using Types = ::testing::Types<std::uint8_t, std::uint16_t>;
TYPED_TEST_SUITE(SamplesTest, Types);

TYPED_TEST(SamplesTest, gathers_row_by_row_and_scatters_back) {
  constexpr int kRows = 37, kCols = 70, kChannels = 3;
  const auto pixels = this->draw(std::size_t(kRows) * kCols * kChannels);
  for (const int channel : {0, 2}) {
    const MatrixView<const TypeParam> upright{pixels.data() + channel, kRows, kCols,
                                              kCols * kChannels, kChannels};
    for (const auto& view : {upright, upright.transposed()}) {
      std::vector<TypeParam> gathered(std::size_t(kRows) * kCols);
      gather(view, gathered.data());
      std::vector<TypeParam> back(pixels.size());
      scatter(gathered.data(), MatrixView<TypeParam>{back.data() + channel, view.rows, view.cols,
                                                     view.row_stride, view.col_stride});
      for (int row = 0; row < view.rows; ++row) {
        for (int col = 0; col < view.cols; ++col) {
          ASSERT_EQ(gathered[std::size_t(row) * std::size_t(view.cols) + std::size_t(col)],
                    view(row, col));
          ASSERT_EQ(back[std::size_t(&view(row, col) - pixels.data())], view(row, col));
        }
      }
    }
  }
}

TYPED_TEST(SamplesTest, copies_unchanged_if_contiguous) {
  const auto pixels = this->draw(35 * 41);
  std::vector<TypeParam> gathered(pixels.size()), back(pixels.size());
  gather(MatrixView<const TypeParam>{pixels.data(), 35, 41, 41}, gathered.data());
  EXPECT_EQ(gathered, pixels);
  scatter(gathered.data(), MatrixView<TypeParam>{back.data(), 35, 41, 41});
  EXPECT_EQ(back, pixels);
}

TYPED_TEST(SamplesTest, converts_to_float_with_the_exact_norm) {
  for (const std::size_t count : {1U, 255U, 256U, 257U, 5000U}) {
    auto samples = this->draw(count);
    samples[0] = TypeParam(this->kPeak);
    std::vector<float> values(count);
    to_float(std::span<const TypeParam>(samples), values.data());
    double expected = 0;
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(values[i], float(samples[i]));
      expected += double(samples[i]) * double(samples[i]);
    }
    EXPECT_EQ(squared_norm(std::span<const TypeParam>(samples)), expected);
  }
}

TEST(FloatSamples, scales_values_and_their_norm) {
  const std::vector<float> samples{3, -4, 8};
  std::vector<float> values(samples.size());
  to_float(std::span<const float>(samples), values.data(), 0.25);
  EXPECT_EQ(values, (std::vector<float>{0.75F, -1, 2}));
  EXPECT_EQ(squared_norm(std::span<const float>(samples), 0.25), (9 + 16 + 64) / 16.0);
}

TYPED_TEST(SamplesTest, has_exact_errors_for_white_against_black) {
  const std::vector<TypeParam> black(1000, 0);
  const std::vector<float> white(1000, float(this->kPeak));
  std::vector<TypeParam> stored;
  const SquaredErrors errors = this->compare(white, black, stored);
  EXPECT_EQ(errors.squared_error, 1000.0 * this->kPeak * this->kPeak);
  EXPECT_EQ(stored, std::vector<TypeParam>(1000, TypeParam(this->kPeak)));
}

TYPED_TEST(SamplesTest, clamps_and_rounds_to_even) {
  const auto top = float(this->kPeak);
  const std::vector<float> values{-1e9F,   -0.6F,   0.F,        0.5F,       1.5F,      2.5F,
                                  100.49F, 100.51F, top - 0.5F, top + 0.4F, top + 1e6F};
  const std::vector<int> expected{0,           0,          0, 0, 2, 2, 100, 101, this->kPeak - 1,
                                  this->kPeak, this->kPeak};
  const std::vector<TypeParam> samples(values.size(), 1);
  std::vector<TypeParam> stored;
  this->compare(values, samples, stored);
  EXPECT_EQ(std::vector<int>(stored.begin(), stored.end()), expected);
}

TYPED_TEST(SamplesTest, has_the_errors_of_a_plain_sum) {
  const auto samples = this->draw(3001);
  std::mt19937 random(6);
  std::normal_distribution<float> noise(0, 9);
  std::vector<float> values;
  for (const TypeParam sample : samples) values.push_back(float(sample) + noise(random));
  std::vector<TypeParam> stored;
  const SquaredErrors errors = this->compare(values, samples, stored);
  double residual = 0, squared_error = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double rounded = std::nearbyint(std::clamp(double(values[i]), 0.0, double(this->kPeak)));
    ASSERT_EQ(stored[i], TypeParam(rounded));
    residual += std::pow(double(values[i]) - samples[i], 2);
    squared_error += std::pow(rounded - samples[i], 2);
  }
  EXPECT_EQ(errors.squared_error, squared_error);
  EXPECT_NEAR(errors.residual, residual, 1e-6 * residual);
}

}  // namespace
}  // namespace eckart::compute::cpu
