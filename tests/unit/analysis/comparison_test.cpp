#include "analysis/comparison.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/quality.hpp"
#include "tests/unit/analysis/reference_images.hpp"

namespace eckart::test {
namespace {

TEST(Comparison, equals_the_figures_of_scikit_image) {
  for (const ReferenceValues& values : kReferenceValues) {
    const auto [a, b] = reference_images(values);
    const analysis::Comparison difference = analysis::compare(a, b);
    EXPECT_NEAR(psnr_db(difference.squared_error, a.shape().samples(), values.peak), values.psnr_db,
                1e-8);
    EXPECT_NEAR(std::sqrt(difference.squared_error / difference.squared_norm),
                values.relative_error, 1e-8);
    EXPECT_EQ(difference.max_error, values.max_error);
  }
}

TEST(Comparison, does_not_overflow) {
  for (const Depth depth : {Depth::u8, Depth::u16}) {
    const ImageShape shape{1000, 70, 1, depth};
    const Image white = make_image(shape, [&](int, int, int) { return peak(depth); });
    const Image black = make_image(shape, [](int, int, int) { return 0; });
    const analysis::Comparison difference = analysis::compare(white, black);
    const double square = double(peak(depth)) * peak(depth) * double(shape.samples());
    EXPECT_DOUBLE_EQ(difference.squared_error, square);
    EXPECT_DOUBLE_EQ(difference.squared_norm, square);
    EXPECT_EQ(difference.max_error, peak(depth));
    EXPECT_EQ(analysis::compare(black, white).max_error, peak(depth));
  }
}

TEST(Peak, is_that_of_the_sample_type_the_range_or_the_number) {
  const Image image = make_image({3, 5, 3, Depth::u16}, [](int r, int c, int channel) {
    return 100 + r * 30 + c * 7 + channel;  // 100 to 190
  });
  EXPECT_EQ(analysis::resolve_peak(parse_peak("dtype"), image).value, 65535);
  EXPECT_EQ(analysis::resolve_peak(parse_peak("range"), image).value, 90);
  EXPECT_EQ(analysis::resolve_peak(parse_peak("4095"), image).value, 4095);
  EXPECT_EQ(analysis::resolve_peak(parse_peak("4095"), image).source, PeakSource::number);
}

}  // namespace
}  // namespace eckart::test
