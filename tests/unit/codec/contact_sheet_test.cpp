#include "codec/contact_sheet.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace eckart::codec {
namespace {

Image constant(int rows, int cols, int channels, int level) {
  Image image({rows, cols, channels, Depth::u8});
  std::fill_n(image.data(), image.bytes(), std::byte(level));
  return image;
}

/// The number of pixels of the sheet whose three samples have this level.
int count(const Image& sheet, int level) {
  int pixels = 0;
  for (std::size_t i = 0; i < sheet.bytes(); i += 3)
    pixels += std::all_of(sheet.data() + i, sheet.data() + i + 3,
                          [&](std::byte sample) { return sample == std::byte(level); });
  return pixels;
}

TEST(FitImage, reduces_large_images_and_enlarges_small_ones_by_a_whole_factor) {
  EXPECT_EQ(fit_image(constant(1000, 500, 3, 9), 100, 200).shape(),
            (ImageShape{200, 100, 3, Depth::u8}));
  EXPECT_EQ(fit_image(constant(150, 90, 1, 9), 100, 200).shape(),
            (ImageShape{150, 90, 1, Depth::u8}));
  EXPECT_EQ(fit_image(constant(40, 20, 1, 9), 100, 200).shape(),
            (ImageShape{120, 60, 1, Depth::u8}));
  EXPECT_EQ(fit_image(constant(4000, 1, 1, 9), 100, 200).shape(),
            (ImageShape{200, 1, 1, Depth::u8}));
}

TEST(ContactSheet, shows_every_image_and_residual_whole) {
  for (const int channels : {1, 3}) {
    const Image original = constant(30, 50, channels, 10), first = constant(30, 50, channels, 20),
                second = constant(30, 50, channels, 30), residual = constant(30, 50, channels, 128);
    const Image sheet = draw_contact_sheet(
        "a.png", {"line"},
        {{.heading = "original", .detail = "", .image = &original},
         {.heading = "rank 1", .detail = "PSNR", .image = &first, .residual = &residual},
         {.heading = "rank 2", .detail = "PSNR", .image = &second, .residual = &residual}});
    EXPECT_EQ(sheet.shape().channels, 3);
    for (const int level : {10, 20, 30}) EXPECT_GE(count(sheet, level), 1500) << level;
    EXPECT_GE(count(sheet, 128), 2 * 1500);
  }
}

TEST(ContactSheet, shows_the_text_with_a_question_mark_for_a_character_that_is_not_ascii) {
  const Image original = constant(30, 50, 1, 10);
  const auto sheet_of = [&](const std::string& detail) {
    const Image sheet =
        draw_contact_sheet("a.png", {}, {{.heading = "", .detail = detail, .image = &original}});
    return std::vector<std::byte>(sheet.data(), sheet.data() + sheet.bytes());
  };
  EXPECT_NE(sheet_of("a"), sheet_of(""));
  EXPECT_NE(sheet_of("a"), sheet_of("b"));
  EXPECT_EQ(sheet_of("5 \u00b5s"), sheet_of("5 ?s"));
}

TEST(FitImage, averages_over_areas_and_repeats_pixels) {
  Image image({2, 2, 1, Depth::u8});
  const std::array<int, 4> levels{0, 100, 201, 255};
  std::transform(levels.begin(), levels.end(), image.data(), [](int l) { return std::byte(l); });
  const Image small = fit_image(image, 1, 1), large = fit_image(image, 5, 100);
  ASSERT_EQ(small.shape(), (ImageShape{1, 1, 1, Depth::u8}));
  EXPECT_EQ(int(small.data()[0]), 139);
  ASSERT_EQ(large.shape(), (ImageShape{6, 6, 1, Depth::u8}));
  for (int row = 0; row < 6; ++row) {
    for (int col = 0; col < 6; ++col)
      EXPECT_EQ(int(large.data()[row * 6 + col]), levels[std::size_t(row / 3 * 2 + col / 3)]);
  }
  EXPECT_EQ(fit_image(image, 2, 2).shape(), image.shape());
}

/// Two columns, because three would make the sheet too wide.
TEST(ContactSheet, has_its_images_in_rows_with_the_residuals_below) {
  const Image first = constant(30, 50, 1, 10), second = constant(30, 50, 1, 20),
              third = constant(30, 50, 1, 30), residual = constant(30, 50, 1, 128);
  const Image sheet =
      draw_contact_sheet("a.png", {"line"},
                         {{.heading = "", .detail = "", .image = &first},
                          {.heading = "", .detail = "", .image = &second, .residual = &residual},
                          {.heading = "", .detail = "", .image = &third, .residual = &residual}});
  ASSERT_EQ(sheet.shape(), (ImageShape{418, 488, 3, Depth::u8}));
  constexpr int kTop = 94, kLeft = 24, kCellCols = 230, kCellRows = 160, kCaptions = 48;
  const auto level = [&](int row, int col) {
    return int(sheet.data()[(std::size_t(row) * 488 + std::size_t(col)) * 3]);
  };
  const auto expect_at = [&](int row, int col, int expected) {
    EXPECT_EQ(level(row, col), expected) << row << " " << col;
    EXPECT_EQ(level(row + 29, col + 49), expected);
    EXPECT_EQ(level(row - 1, col), 255);
    EXPECT_EQ(level(row, col - 1), 255);
    EXPECT_EQ(level(row + 29, col + 50), 255);
  };
  expect_at(kTop + kCaptions, kLeft, 10);
  expect_at(kTop + kCaptions, kLeft + kCellCols, 20);
  expect_at(kTop + kCellRows + kCaptions, kLeft, 30);
  expect_at(kTop + kCaptions + 38, kLeft + kCellCols, 128);
  expect_at(kTop + kCellRows + kCaptions + 38, kLeft, 128);
  EXPECT_EQ(level(kTop + kCaptions + 38 + 5, kLeft + 5), 255) << "the first has no residual";
}

}  // namespace
}  // namespace eckart::codec
