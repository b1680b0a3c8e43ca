#include "text/format_number.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <utility>

#include "text/format_count.hpp"

namespace eckart::text {
namespace {

TEST(NumberFormat, has_three_digits_and_no_exponent) {
  EXPECT_EQ(format_number(0), "0");
  EXPECT_EQ(format_number(0.0000116), "0.0000116");
  EXPECT_EQ(format_number(0.9994), "0.999");
  EXPECT_EQ(format_number(0.9996), "1.00");
  EXPECT_EQ(format_number(9.996), "10.0");
  EXPECT_EQ(format_number(99.96), "100");
  EXPECT_EQ(format_number(999.6), "1,000");
  EXPECT_EQ(format_number(1234567), "1,234,567");
  EXPECT_EQ(format_number(std::numeric_limits<double>::infinity()), "unbounded");
}

TEST(RatioFormat, has_two_digits) {
  const std::pair<double, const char*> cases[] = {
      {0.0158, "0.016"}, {0.1, "0.10"},   {0.954, "0.95"}, {0.996, "1.0"},
      {1.24, "1.2"},     {9.94, "9.9"},   {9.96, "10"},    {66.04, "66"},
      {169, "170"},      {1234, "1,200"}, {-4.26, "-4.3"}, {0, "0"}};
  for (const auto& [value, text] : cases) EXPECT_EQ(format_ratio(value), text) << value;
  EXPECT_EQ(format_ratio(std::numeric_limits<double>::infinity()), "unbounded");
}

TEST(NumberFormat, rounds_at_each_number_of_decimals) {
  const std::pair<double, const char*> cases[] = {{1e-7, "0"},
                                                  {-1e-7, "0"},
                                                  {0.000001, "0.00000100"},
                                                  {0.0123, "0.0123"},
                                                  {0.1234, "0.123"},
                                                  {9.994, "9.99"},
                                                  {12.34, "12.3"},
                                                  {99.94, "99.9"},
                                                  {-5.25, "-5.25"},
                                                  {-0.5, "-0.500"},
                                                  {-12.34, "-12.3"},
                                                  {-1234.4, "-1,234"},
                                                  {9e14, "900,000,000,000,000"},
                                                  {1e15, "more than 1e15"},
                                                  {-1e15, "less than -1e15"}};
  for (const auto& [value, text] : cases) EXPECT_EQ(format_number(value), text);
  EXPECT_EQ(format_number(std::numeric_limits<double>::quiet_NaN()), "unbounded");
}

TEST(CountFormat, has_a_plural_unless_it_is_one) {
  EXPECT_EQ(format_count(0, "core"), "0 cores");
  EXPECT_EQ(format_count(1, "core"), "1 core");
  EXPECT_EQ(format_count(12345, "output"), "12,345 outputs");
}

TEST(ImageRateFormat, counts_seconds_below_one_image_per_second) {
  EXPECT_EQ(format_image_rate(1234), "1,234 images/s");
  EXPECT_EQ(format_image_rate(0.9996), "1.00 images/s");
  EXPECT_EQ(format_image_rate(0.4), "2.50 s/image");
  EXPECT_EQ(format_image_rate(1 / 86400.0), "86,400 s/image") << "one image a day";
  EXPECT_EQ(format_image_rate(0), "0 images/s");
  EXPECT_EQ(format_image_rate(0.999), "1.00 s/image");
  EXPECT_EQ(format_image_rate(-1), "? images/s");
  EXPECT_EQ(format_image_rate(std::numeric_limits<double>::infinity()), "? images/s");
  EXPECT_EQ(format_image_rate(std::numeric_limits<double>::quiet_NaN()), "? images/s");
}

}  // namespace
}  // namespace eckart::text
