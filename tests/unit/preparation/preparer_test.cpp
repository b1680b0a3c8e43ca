#include "preparation/preparer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "preparation/gray.hpp"
#include "preparation/normalize.hpp"
#include "preparation/premultiplied_alpha.hpp"
#include "preparation/resize.hpp"
#include "tests/unit/codec/test_images.hpp"

namespace eckart::preparation {
namespace {

const ImageShape kColor{40, 50, 3, Depth::u8}, kGray{40, 50, 1, Depth::u8};

Picture make_picture(const ImageShape& shape = kColor) {
  Picture picture;
  picture.pixels = test::noise_image(shape);
  picture.alpha = test::gradient_image(kGray);
  picture.metadata.icc.resize(3);
  picture.metadata.exif.resize(4);
  return picture;
}

TEST(Preparer, changes_nothing_by_default) {
  const Picture picture = Preparer({}).prepare(make_picture());
  EXPECT_TRUE(test::same(picture.pixels, test::noise_image(kColor)));
  EXPECT_TRUE(test::same(picture.alpha, test::gradient_image(kGray)));
  EXPECT_EQ(picture.metadata.icc.size(), 3u);
}

TEST(Preparer, converts_then_resizes_then_normalizes) {
  Preparer preparer(
      {.gray = true, .size = TargetSize::exactly(30, 60), .normalize = Normalization::minmax});
  WeightCache weights;
  Image expected = resize(to_gray(test::noise_image(kColor)), 60, 30, weights);
  normalize_minmax(expected);
  Picture opaque = make_picture();
  opaque.alpha = Image();
  EXPECT_TRUE(test::same(preparer.prepare(std::move(opaque)).pixels, expected));
}

TEST(Preparer, resizes_alpha_and_does_not_normalize_it) {
  Preparer preparer({.size = TargetSize::exactly(30, 60), .normalize = Normalization::minmax});
  WeightCache weights;
  EXPECT_TRUE(test::same(preparer.prepare(make_picture()).alpha,
                         resize(test::gradient_image(kGray), 60, 30, weights)));
}

/// Makes black images, of the channels that it takes.
class BlackResizer : public Resizer {
 public:
  explicit BlackResizer(int channels) : channels_(channels) {}
  std::optional<Image> try_resize(const Image& image, int rows, int cols) override {
    ImageShape shape = image.shape();
    if (shape.channels != channels_) return std::nullopt;
    shape.rows = rows;
    shape.cols = cols;
    return black(shape);
  }
  static Image black(const ImageShape& shape) {
    Image image(shape);
    std::fill_n(image.data(), image.bytes(), std::byte(0));
    return image;
  }

 private:
  const int channels_;
};

TEST(Preparer, resizes_on_the_cpu_what_a_device_does_not_take) {
  const ImageShape color{60, 30, 3, Depth::u8}, gray{60, 30, 1, Depth::u8};
  WeightCache weights;
  Preparer preparer({.size = TargetSize::exactly(30, 60)});
  BlackResizer color_resizer(3), gray_resizer(1);
  const Picture by_color = preparer.prepare(make_picture(), &color_resizer);
  EXPECT_TRUE(test::same(by_color.pixels, BlackResizer::black(color)));
  EXPECT_TRUE(test::same(by_color.alpha, resize(test::gradient_image(kGray), 60, 30, weights)));
  const Picture by_gray = preparer.prepare(make_picture(), &gray_resizer);
  Image premultiplied = test::noise_image(kColor);
  multiply_by_alpha(premultiplied, test::gradient_image(kGray));
  EXPECT_TRUE(test::same(by_gray.pixels, resize(std::move(premultiplied), 60, 30, weights)));
  EXPECT_TRUE(test::same(by_gray.alpha, BlackResizer::black(gray)));
}

/// As Pillow: an opaque blue square on transparent red has no purple edge.
TEST(Preparer, does_not_mix_in_colors_of_transparent_pixels) {
  for (const Depth depth : {Depth::u8, Depth::u16}) {
    Picture picture;
    picture.pixels = Image({40, 40, 3, depth});
    picture.alpha = Image({40, 40, 1, depth});
    for (int row = 0; row < 40; ++row) {
      for (int col = 0; col < 40; ++col) {
        const bool is_inside = row >= 10 && row < 31 && col >= 10 && col < 31;
        for (int c = 0; c < 3; ++c)
          test::set_sample(picture.pixels, row, col, c, c == (is_inside ? 2 : 0) ? peak(depth) : 0);
        test::set_sample(picture.alpha, row, col, 0, is_inside ? peak(depth) : 0);
      }
    }
    Preparer preparer({.size = TargetSize::exactly(20, 20)});
    const Picture resized = preparer.prepare(std::move(picture));
    int visible = 0;
    for (int row = 0; row < 20; ++row) {
      for (int col = 0; col < 20; ++col) {
        if (test::sample(resized.alpha, row, col, 0) < peak(depth) / 8) continue;
        ++visible;
        EXPECT_EQ(test::sample(resized.pixels, row, col, 0), 0) << row << ", " << col;
        EXPECT_GT(test::sample(resized.pixels, row, col, 2), peak(depth) * 9 / 10);
      }
    }
    EXPECT_GT(visible, 100);
  }
}

/// Beside opaque black, the filter overshoots: colors multiplied by alpha exceed alpha.
TEST(Preparer, keeps_translucent_white_bright_beside_opaque_black) {
  for (const Depth depth : {Depth::u8, Depth::u16}) {
    Picture picture;
    picture.pixels = Image({40, 40, 1, depth});
    picture.alpha = Image({40, 40, 1, depth});
    for (int row = 0; row < 40; ++row) {
      for (int col = 0; col < 40; ++col) {
        const bool is_white = col < 20;
        test::set_sample(picture.pixels, row, col, 0, is_white ? peak(depth) : 0);
        test::set_sample(picture.alpha, row, col, 0, is_white ? peak(depth) / 2 : peak(depth));
      }
    }
    Preparer preparer({.size = TargetSize::exactly(20, 20)});
    const Image resized = preparer.prepare(std::move(picture)).pixels;
    for (int row = 0; row < 20; ++row) {
      for (int col = 0; col < 9; ++col)
        EXPECT_GT(test::sample(resized, row, col, 0), peak(depth) * 9 / 10) << row << ", " << col;
    }
  }
}

TEST(Preparer, removes_the_profile_of_colors_that_are_gone) {
  Preparer preparer({.gray = true});
  const Picture converted = preparer.prepare(make_picture());
  EXPECT_TRUE(converted.metadata.icc.empty());
  EXPECT_EQ(converted.metadata.exif.size(), 4u);
  EXPECT_EQ(preparer.prepare(make_picture(kGray)).metadata.icc.size(), 3u) << "it is for gray";
}

/// The samples of an image of integers as floats.
Image to_floats(const Image& image, double scale = 1, double offset = 0) {
  ImageShape shape = image.shape();
  shape.depth = Depth::f32;
  Image floats(shape);
  const std::vector<int> samples = test::samples(image);
  std::ranges::transform(samples, reinterpret_cast<float*>(floats.data()),
                         [&](int sample) { return float(sample * scale + offset); });
  return floats;
}

/// Except for rounding, and where integers are clamped.
TEST(Preparer, prepares_floats_as_integers) {
  const Preparation preparation{.gray = true, .size = TargetSize::exactly(30, 60)};
  const ImageShape shape{40, 50, 3, Depth::u16};
  Picture levels, floats, negative;
  levels.pixels = test::gradient_image(shape);
  floats.pixels = to_floats(levels.pixels);
  negative.pixels = to_floats(levels.pixels, -1e-3);
  const std::vector<int> expected =
      test::samples(Preparer(preparation).prepare(std::move(levels)).pixels);
  const Image prepared = Preparer(preparation).prepare(std::move(floats)).pixels;
  EXPECT_EQ(prepared.shape(), (ImageShape{60, 30, 1, Depth::f32}));
  const std::vector<float> values = test::float_samples(prepared);
  const std::vector<float> negated =
      test::float_samples(Preparer(preparation).prepare(std::move(negative)).pixels);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (expected[i] < 65535) {
      EXPECT_NEAR(values[i], expected[i], 2);
    }
    EXPECT_NEAR(negated[i], -1e-3 * values[i], 1e-4);
  }
}

/// The values of DICOM are those of the samples before.
TEST(Preparer, removes_the_values_of_dicom_if_it_normalizes) {
  const auto prepared = [](const Preparation& preparation) {
    Picture picture{test::noise_image({4, 5, 1, Depth::u16}), {}, {}};
    picture.metadata.dicom = DicomValues();
    return Preparer(preparation).prepare(std::move(picture)).metadata.dicom.has_value();
  };
  EXPECT_FALSE(prepared({.normalize = Normalization::minmax}));
  EXPECT_TRUE(prepared({.size = TargetSize::exactly(2, 2)}));
}

TEST(Preparer, normalizes_floats_to_0_and_1) {
  Picture picture;
  picture.pixels = to_floats(test::noise_image({5, 6, 1, Depth::u16}), 7e5, -1e9);
  const Image normalized =
      Preparer({.normalize = Normalization::minmax}).prepare(std::move(picture)).pixels;
  const auto [min, max] = std::ranges::minmax(test::float_samples(normalized));
  EXPECT_EQ(min, 0);
  EXPECT_EQ(max, 1);
}

TEST(Preparer, needs_the_memory_of_its_largest_step) {
  const std::size_t color = kColor.bytes(), gray = kGray.bytes();
  EXPECT_EQ(Preparer({}).memory_bytes(kColor), color);
  EXPECT_EQ(Preparer({.gray = true}).memory_bytes(kColor), color + gray);
  EXPECT_EQ(Preparer({.gray = true}).memory_bytes(kGray), gray);
  EXPECT_EQ(Preparer({.size = TargetSize::exactly(50, 400)}).memory_bytes(kColor), 11 * color);
  EXPECT_EQ(Preparer({.gray = true, .size = TargetSize::exactly(50, 400)}).memory_bytes(kColor),
            11 * gray);
}

}  // namespace
}  // namespace eckart::preparation
