#include "analysis/comparison.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analysis/ssim.hpp"
#include "core/error.hpp"
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

Image float_image(const Image& levels, double scale, double offset) {
  ImageShape shape = levels.shape();
  shape.depth = Depth::f32;
  Image floats(shape);
  const auto* from = reinterpret_cast<const std::uint16_t*>(levels.data());
  for (std::size_t i = 0; i < shape.samples(); ++i)
    reinterpret_cast<float*>(floats.data())[i] = float(from[i] * scale + offset);
  return floats;
}

/// Levels that are scaled and shifted have the same PSNR and SSIM, if their peak is scaled.
TEST(Comparison, measures_floats_as_levels) {
  const ImageShape shape{40, 50, 1, Depth::u16};
  const Image a = make_image(shape, [](int r, int c, int) { return 1000 + 40 * r + 25 * c; });
  const Image b = make_image(shape, [](int r, int c, int) { return 990 + 41 * r + 25 * c; });
  const Image scaled_a = float_image(a, 0x1p-20, 0), scaled_b = float_image(b, 0x1p-20, 0);
  const analysis::Comparison levels = analysis::compare(a, b);
  const analysis::Comparison floats = analysis::compare(scaled_a, scaled_b);
  EXPECT_DOUBLE_EQ(floats.squared_error, levels.squared_error * 0x1p-40);
  EXPECT_DOUBLE_EQ(floats.squared_norm, levels.squared_norm * 0x1p-40);
  EXPECT_DOUBLE_EQ(floats.max_error, levels.max_error * 0x1p-20);
  EXPECT_NEAR(analysis::ssim(scaled_a, scaled_b, 4000 * 0x1p-20), analysis::ssim(a, b, 4000), 1e-9);
  const Image negative_a = float_image(a, -1, 0), negative_b = float_image(b, -1, 0);
  EXPECT_DOUBLE_EQ(analysis::compare(negative_a, negative_b).squared_error, levels.squared_error);
  EXPECT_EQ(analysis::sample_range(negative_a), analysis::sample_range(a));
}

/// Floats have no largest value.
TEST(Peak, is_the_range_of_floats) {
  const Image image = float_image(
      make_image({3, 5, 1, Depth::u16}, [](int r, int c, int) { return 8 * r + c; }), 0.5, -3);
  const Peak peak = analysis::resolve_peak({}, image);
  EXPECT_EQ(peak.value, 10);
  EXPECT_EQ(peak.source, PeakSource::range);
  EXPECT_EQ(analysis::resolve_peak(parse_peak("1"), image).value, 1);
  try {
    analysis::resolve_peak(parse_peak("dtype"), image);
    FAIL();
  } catch (const ItemError& error) {
    EXPECT_NE(std::string(error.what()).find("quality.peak=dtype"), std::string::npos);
  }
}

TEST(UnusedBits, describes_those_of_16_bits_only) {
  const auto describe = [](Depth depth, int largest) {
    Image image({2, 2, 1, depth});
    with_sample_type(depth, [&]<class Sample>(Sample*) {
      auto plane = image.plane<Sample>(0);
      plane(0, 0) = plane(0, 1) = plane(1, 0) = Sample(0);
      plane(1, 1) = Sample(largest);
    });
    return analysis::describe_unused_bits(image);
  };
  EXPECT_EQ(
      describe(Depth::u16, 4095),
      "all samples are below 4096, but PSNR and SSIM have the peak 65535; set quality.peak to "
      "that of the image, such as 4095, or to dtype");
  EXPECT_NE(describe(Depth::u16, (1 << 14) - 1), "");
  EXPECT_EQ(describe(Depth::u16, 1 << 14), "");
  EXPECT_EQ(describe(Depth::u16, 0), "") << "a black image";
  EXPECT_EQ(describe(Depth::u8, 15), "");
  EXPECT_EQ(describe(Depth::f32, 1), "");
}

TEST(Peak, follows_the_bits_only_if_fewer_are_stored_than_the_type_has) {
  const Image bytes = make_image({2, 2, 1, Depth::u8}, [](int r, int, int) { return 10 * r; });
  EXPECT_EQ(analysis::resolve_peak({}, bytes, 8).source, PeakSource::dtype);
  EXPECT_EQ(analysis::resolve_peak({}, bytes, 8).value, 255);
  EXPECT_EQ(analysis::resolve_peak({}, bytes, 7).source, PeakSource::bits_stored);
  EXPECT_EQ(analysis::resolve_peak({}, bytes, 7).value, 127);
  EXPECT_EQ(analysis::resolve_peak(parse_peak("range"), bytes, 7).value, 10);
  EXPECT_EQ(analysis::resolve_peak(parse_peak("range"), bytes, 7).source, PeakSource::range);
}

TEST(Peak, is_found_from_the_range_if_there_are_no_pixels) {
  const auto peak_of = [](const char* choice, Depth depth) {
    const Peak peak = analysis::resolve_peak(parse_peak(choice), depth, 12.5);
    return std::pair(peak.value, peak.source);
  };
  EXPECT_EQ(peak_of("auto", Depth::u8), std::pair(255.0, PeakSource::dtype));
  EXPECT_EQ(peak_of("auto", Depth::u16), std::pair(65535.0, PeakSource::dtype));
  EXPECT_EQ(peak_of("auto", Depth::f32), std::pair(12.5, PeakSource::range));
  EXPECT_EQ(peak_of("range", Depth::u8), std::pair(12.5, PeakSource::range));
  EXPECT_EQ(peak_of("300", Depth::f32), std::pair(300.0, PeakSource::number));
  EXPECT_THROW(peak_of("dtype", Depth::f32), ItemError);
}

TEST(SampleStatistic, is_the_range_of_all_channels_and_the_mean_of_each) {
  for (const Depth depth : {Depth::u8, Depth::u16, Depth::f32}) {
    const Image image = make_image({3, 4, 3, depth}, [](int r, int c, int channel) {
      return 50 * channel + 4 * r + c;  // the mean is 50 * channel + 5.5
    });
    const SampleStatistics statistics = analysis::sample_statistics(image);
    EXPECT_EQ(statistics.min, 0);
    EXPECT_EQ(statistics.max, 111);
    EXPECT_EQ(statistics.mean, (std::vector<double>{5.5, 55.5, 105.5}));
  }
}

TEST(Peak, is_that_of_the_sample_type_the_range_or_the_number) {
  const Image image = make_image({3, 5, 3, Depth::u16}, [](int r, int c, int channel) {
    return 100 + r * 30 + c * 7 + channel;  // 100 to 190
  });
  for (const char* text : {"auto", "dtype"})
    EXPECT_EQ(analysis::resolve_peak(parse_peak(text), image).value, 65535);
  EXPECT_EQ(analysis::resolve_peak(parse_peak("range"), image).value, 90);
  EXPECT_EQ(analysis::resolve_peak(parse_peak("4095"), image).value, 4095);
  EXPECT_EQ(analysis::resolve_peak(parse_peak("4095"), image).source, PeakSource::number);
  EXPECT_EQ(analysis::resolve_peak({}, image, 12).value, 4095);
  EXPECT_EQ(analysis::resolve_peak({}, image, 12).source, PeakSource::bits_stored);
  EXPECT_EQ(analysis::resolve_peak({}, image, 16).source, PeakSource::dtype);
  EXPECT_EQ(analysis::resolve_peak(parse_peak("dtype"), image, 12).value, 65535);
}

}  // namespace
}  // namespace eckart::test
