#include "compute/cuda/plan/decoding_rates.hpp"

#include <gtest/gtest.h>

namespace eckart::compute::cuda {
namespace {

using namespace std::chrono_literals;

constexpr ImageShape kShape{512, 768, 3, Depth::u8};
const Instant kStart{};

class DecodingRateTest : public testing::Test {
 protected:
  /// Seconds for a JPEG of 100 KB.
  double jpeg_s(Instant now = kStart) const {
    return rates_.rate(ImageFormat::jpeg, kShape, now).s(100'000);
  }
  void add_jpegs(int batches, double times_built_in) {
    for (int i = 0; i < batches; ++i)
      rates_.add_batch(ImageFormat::jpeg, kBuiltInS, times_built_in * kBuiltInS, kStart);
  }

  const double kBuiltInS = built_in_decoding_rate(ImageFormat::jpeg, kShape).s(100'000);
  DecodingRates rates_;
};

TEST_F(DecodingRateTest, follows_what_batches_of_the_format_took) {
  add_jpegs(int(DecodingRates::kMinBatches), 3);
  EXPECT_DOUBLE_EQ(jpeg_s(), 3 * kBuiltInS);
  EXPECT_DOUBLE_EQ(rates_.rate(ImageFormat::png, kShape, kStart).s(100'000),
                   built_in_decoding_rate(ImageFormat::png, kShape).s(100'000));
}

TEST_F(DecodingRateTest, is_that_built_in_before_enough_batches_were_measured) {
  add_jpegs(int(DecodingRates::kMinBatches) - 1, 3);
  EXPECT_DOUBLE_EQ(jpeg_s(), kBuiltInS);
}

/// Most batches wait for the work of others.
TEST_F(DecodingRateTest, is_that_of_the_fastest_batch) {
  add_jpegs(2, 1000);
  add_jpegs(1, 0.5);
  add_jpegs(2, 2);
  EXPECT_DOUBLE_EQ(jpeg_s(), 0.5 * kBuiltInS);
}

TEST_F(DecodingRateTest, forgets_batches_before_the_last_ones) {
  add_jpegs(100, 2);
  add_jpegs(int(DecodingRates::kMaxBatches), 4);
  EXPECT_DOUBLE_EQ(jpeg_s(), 4 * kBuiltInS);
}

/// Another program may have used the GPU then. Without this, a rate at which nothing is decoded
/// would stay.
TEST_F(DecodingRateTest, is_that_built_in_after_a_minute_without_batches) {
  add_jpegs(10, 4);
  EXPECT_DOUBLE_EQ(jpeg_s(kStart + 60s), 4 * kBuiltInS);
  EXPECT_DOUBLE_EQ(jpeg_s(kStart + 61s), kBuiltInS);
}

TEST_F(DecodingRateTest, forgets_batches_after_a_minute) {
  add_jpegs(10, 0.5);
  for (int batch = 0; batch < 3; ++batch)
    rates_.add_batch(ImageFormat::jpeg, kBuiltInS, 4 * kBuiltInS, kStart + 61s);
  EXPECT_DOUBLE_EQ(jpeg_s(kStart + 61s), 4 * kBuiltInS);
}

}  // namespace
}  // namespace eckart::compute::cuda
