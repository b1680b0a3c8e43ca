#include "core/preparation.hpp"

#include <gtest/gtest.h>

#include <string>

namespace eckart {
namespace {

ImageShape resized(int rows, int cols, const TargetSize& size) {
  return resized_shape({rows, cols, 3, Depth::u16}, size);
}

TEST(TargetSize, parses_width_and_height_or_a_maximum) {
  EXPECT_EQ(parse_target_size("256x128"), TargetSize::exactly(256, 128));
  EXPECT_EQ(parse_target_size("1x65535"), TargetSize::exactly(1, 65535));
  EXPECT_EQ(parse_target_size("max:512"), TargetSize::at_most(512));
  EXPECT_EQ(parse_target_size(""), TargetSize{});
}

TEST(TargetSize, rejects_other_texts) {
  for (const char* text :
       {"256",     "x256",    "256x",      "0x256", "256x0", "-1x2",         "+1x2",   "65536x1",
        "1x65536", "256X256", "256 x 256", "1x2x3", "max:",  "max:0",        "max:-5", "max:65536",
        "max:5x5", "Max:5",   "min:5",     " 5x5",  "5x5 ",  "99999999999x1"}) {
    EXPECT_EQ(parse_target_size(text), std::nullopt) << text;
  }
}

TEST(TargetSize, formats_what_it_parses) {
  for (const char* text : {"", "256x128", "max:512"})
    EXPECT_EQ(to_string(parse_target_size(text).value()), text);
}

TEST(ResizedShape, is_that_of_the_image_without_a_size) {
  EXPECT_EQ(resized(20, 30, {}), (ImageShape{20, 30, 3, Depth::u16}));
}

TEST(ResizedShape, has_width_columns_and_height_rows) {
  EXPECT_EQ(resized(20, 30, TargetSize::exactly(256, 128)), (ImageShape{128, 256, 3, Depth::u16}));
}

TEST(ResizedShape, keeps_the_ratio_below_a_maximum) {
  EXPECT_EQ(resized(512, 768, TargetSize::at_most(256)), (ImageShape{171, 256, 3, Depth::u16}));
  EXPECT_EQ(resized(768, 512, TargetSize::at_most(256)), (ImageShape{256, 171, 3, Depth::u16}));
  EXPECT_EQ(resized(5000, 2, TargetSize::at_most(100)), (ImageShape{100, 1, 3, Depth::u16}));
  EXPECT_EQ(resized(2, 5000, TargetSize::at_most(100)), (ImageShape{1, 100, 3, Depth::u16}));
  // Image.thumbnail() of Pillow: 300 x 199 and 199 x 300, with a side of 100 or 7.
  EXPECT_EQ(resized(199, 300, TargetSize::at_most(100)), (ImageShape{66, 100, 3, Depth::u16}));
  EXPECT_EQ(resized(300, 199, TargetSize::at_most(100)), (ImageShape{100, 66, 3, Depth::u16}));
  EXPECT_EQ(resized(100, 100, TargetSize::at_most(7)), (ImageShape{7, 7, 3, Depth::u16}));
}

TEST(ResizedShape, does_not_enlarge_to_a_maximum) {
  EXPECT_EQ(resized(20, 30, TargetSize::at_most(30)), (ImageShape{20, 30, 3, Depth::u16}));
  EXPECT_EQ(resized(20, 30, TargetSize::at_most(256)), (ImageShape{20, 30, 3, Depth::u16}));
}

TEST(PreparedShape, has_one_channel_if_gray) {
  const ImageShape color{20, 30, 3, Depth::u16}, gray{20, 30, 1, Depth::u16};
  EXPECT_EQ(prepared_shape(color, {}), color);
  EXPECT_EQ(prepared_shape(color, {.gray = true}), gray);
  EXPECT_EQ(prepared_shape(gray, {.gray = true}), gray);
  EXPECT_EQ(prepared_shape(color, {.gray = true, .size = TargetSize::exactly(8, 9)}),
            (ImageShape{9, 8, 1, Depth::u16}));
}

}  // namespace
}  // namespace eckart
