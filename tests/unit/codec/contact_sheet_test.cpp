#include "codec/contact_sheet.hpp"

#include <gtest/gtest.h>

#include <algorithm>
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

}  // namespace
}  // namespace eckart::codec
