#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "codec/npz.hpp"
#include "tests/unit/codec/factors_maker.hpp"
#include "tests/unit/codec/failure_of.hpp"
#include "tests/unit/codec/open_image.hpp"

namespace eckart::codec {
namespace {

using test::Bytes;
using test::factors_file;
using test::failure_of;
using test::make_factors;
using testing::ElementsAre;
using testing::HasSubstr;

const SampleStatistics kSamples{3, 200, {20, 30, 40}};

ImageFactors read_factors(const Bytes& file) {
  return test::open_image(ImageFormat::npz, file).factors.value();
}

test::CaughtError error_of(const Bytes& file) {
  return failure_of([&] { read_factors(file); });
}

TEST(FactorsCodec, reads_what_it_wrote) {
  const ImageShape shape{6, 9, 3, Depth::u16};
  const std::vector<Factors> matrices{make_factors(6, 9, 3), make_factors(6, 9, 1),
                                      make_factors(6, 9, 6)};
  for (const FactorType type : {FactorType::float32, FactorType::float16}) {
    const ImageFactors factors =
        read_factors(encode_factors(shape, ColorMode::ycbcr, kSamples, matrices, type));
    EXPECT_EQ(factors.shape, shape);
    EXPECT_EQ(factors.color, ColorMode::ycbcr);
    EXPECT_EQ(factors.samples.min, 3);
    EXPECT_EQ(factors.samples.max, 200);
    EXPECT_THAT(factors.samples.mean, ElementsAre(20, 30, 40));
    ASSERT_EQ(factors.matrices.size(), 3U);
    for (std::size_t c = 0; c < 3; ++c) {
      EXPECT_EQ(factors.matrices[c].s, matrices[c].s);
      EXPECT_EQ(factors.matrices[c].u, matrices[c].u);
      EXPECT_EQ(factors.matrices[c].vt, matrices[c].vt);
      EXPECT_EQ(factors.matrices[c].squared_norm, matrices[c].squared_norm);
    }
  }
}

TEST(FactorsCodec, needs_half_of_the_bytes_in_float16) {
  const ImageShape shape{300, 200, 1, Depth::u8};
  const auto bytes = [&](FactorType type) { return factors_file(shape, 50, type).size(); };
  EXPECT_NEAR(double(bytes(FactorType::float16)), 0.5 * double(bytes(FactorType::float32)), 2000);
}

TEST(FactorsCodec, refuses_other_archives) {
  const float value = 1;
  const auto data = std::as_bytes(std::span(&value, 1));
  const std::vector<NpyArray> arrays{{"a", "<f4", {1}, {data.begin(), data.end()}}};
  const test::CaughtError error = error_of(write_npz(arrays));
  EXPECT_EQ(error.reason, FailureReason::unsupported);
  EXPECT_THAT(error.detail, HasSubstr("not factors of eckart"));
}

TEST(FactorsCodec, refuses_numbers_that_are_no_factors) {
  const auto detail_of = [](auto&& change) {
    std::vector<Factors> matrices{make_factors(6, 9, 2)};
    change(matrices[0]);
    const test::CaughtError error = error_of(encode_factors(
        {6, 9, 1, Depth::u8}, ColorMode::channels, {0, 255, {100}}, matrices, FactorType::float32));
    EXPECT_EQ(error.reason, FailureReason::corrupt);
    return error.detail;
  };
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(detail_of([](Factors& f) { f.u[3] = kNan; }), HasSubstr("U or Vt"));
  EXPECT_THAT(detail_of([](Factors& f) { f.vt[3] = 2; }), HasSubstr("U or Vt"));
  EXPECT_THAT(detail_of([](Factors& f) { f.s[1] = -1; }), HasSubstr("array s"));
  EXPECT_THAT(detail_of([](Factors& f) { f.s[1] = 1e200; }), HasSubstr("array s"));
  EXPECT_THAT(detail_of([](Factors& f) { f.squared_norm = kNan; }), HasSubstr("squared_norm"));
}

TEST(FactorsCodec, refuses_arrays_that_contradict_each_other) {
  const auto error_for = [](const ImageShape& shape, ColorMode color, int matrices) {
    const std::vector<Factors> all(std::size_t(matrices), make_factors(6, 9, 2));
    return error_of(encode_factors(shape, color,
                                   {0, 255, std::vector<double>(std::size_t(shape.channels))}, all,
                                   FactorType::float32));
  };
  EXPECT_EQ(error_for({6, 9, 3, Depth::u8}, ColorMode::channels, 3).reason, FailureReason::none);
  for (const auto& error : {error_for({7, 9, 3, Depth::u8}, ColorMode::channels, 3),
                            error_for({6, 9, 3, Depth::u8}, ColorMode::channels, 1),
                            error_for({6, 9, 1, Depth::u8}, ColorMode::channels, 3),
                            error_for({6, 9, 3, Depth::u8}, ColorMode::joint, 1),
                            error_for({6, 9, 2, Depth::u8}, ColorMode::channels, 2),
                            error_for({0, 9, 1, Depth::u8}, ColorMode::channels, 1)})
    EXPECT_EQ(error.reason, FailureReason::corrupt) << error.detail;
}

/// The file is small, and the image that it announces is not.
TEST(FactorsCodec, is_limited_by_the_size_of_the_image) {
  const Bytes file = factors_file({5000, 4000, 1, Depth::u8}, 1);
  const Codec& codec = detect_codec(file);
  EXPECT_NO_THROW(admit(codec, file, {}));
  const auto detail_for = [&](const ImageLimits& limits) {
    const test::CaughtError error = failure_of([&] { admit(codec, file, limits); });
    EXPECT_EQ(error.reason, FailureReason::too_large);
    return error.detail;
  };
  EXPECT_THAT(detail_for({.pixels = 1'000'000}), HasSubstr("limits.pixels"));
  EXPECT_THAT(detail_for({.decode_mb = 10}), HasSubstr("limits.decode_mb"));
}

}  // namespace
}  // namespace eckart::codec
