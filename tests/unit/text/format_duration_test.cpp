#include "text/format_duration.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <utility>

namespace eckart::text {
namespace {

TEST(DurationFormat, has_three_digits_in_a_suitable_unit) {
  EXPECT_EQ(format_duration(0), "0 s");
  EXPECT_EQ(format_duration(68.94e-9), "68.9 ns");
  EXPECT_EQ(format_duration(1.94e-6), "1.94 us");
  EXPECT_EQ(format_duration(0.0009994), "999 us");
  EXPECT_EQ(format_duration(0.0009996), "1.00 ms");
  EXPECT_EQ(format_duration(0.01636), "16.4 ms");
  EXPECT_EQ(format_duration(0.9996), "1.00 s");
  EXPECT_EQ(format_duration(9.996), "10.0 s");
  EXPECT_EQ(format_duration(59.94), "59.9 s");
}

TEST(DurationFormat, has_two_units_from_a_minute_on) {
  EXPECT_EQ(format_duration(59.96), "1 min 0 s");
  EXPECT_EQ(format_duration(1234), "20 min 34 s");
  EXPECT_EQ(format_duration(3599.6), "1 h 0 min");
  EXPECT_EQ(format_duration(2 * 3600 + 5 * 60 + 17), "2 h 5 min");
  EXPECT_EQ(format_duration(86399.6), "1 d 0 h");
  EXPECT_EQ(format_duration(14 * 86400.0), "14 d 0 h");
  EXPECT_EQ(format_duration(50.4 * 86400), "50 days");
  EXPECT_EQ(format_duration(1e300), "more than 10,000,000,000 days");
}

TEST(DurationFormat, changes_the_unit_and_the_decimals_where_the_digits_end) {
  const std::pair<double, const char*> cases[] = {
      {9.994e-9, "9.99 ns"},   {9.996e-9, "10.0 ns"},     {99.94e-9, "99.9 ns"},
      {99.96e-9, "100 ns"},    {999.4e-9, "999 ns"},      {999.6e-9, "1.00 us"},
      {999.4e-6, "999 us"},    {0.9994, "999 ms"},        {9.994, "9.99 s"},
      {59.9, "59.9 s"},        {60.4, "1 min 0 s"},       {3599.4, "59 min 59 s"},
      {3600, "1 h 0 min"},     {86399.4, "23 h 59 min"},  {86400, "1 d 0 h"},
      {90000, "1 d 1 h"},      {14 * 86400, "14 d 0 h"},  {14 * 86400 + 1, "14 days"},
      {15 * 86400, "15 days"}, {1e15, "11574074074 days"}};
  for (const auto& [seconds, text] : cases) EXPECT_EQ(format_duration(seconds), text);
}

TEST(DurationFormat, is_a_hyphen_if_there_is_no_duration) {
  EXPECT_EQ(format_duration(std::numeric_limits<double>::infinity()), "-");
  EXPECT_EQ(format_duration(std::numeric_limits<double>::quiet_NaN()), "-");
  EXPECT_EQ(format_duration(-1), "-");
}

}  // namespace
}  // namespace eckart::text
