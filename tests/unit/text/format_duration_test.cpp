#include "text/format_duration.hpp"

#include <gtest/gtest.h>

#include <limits>

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

TEST(DurationFormat, is_a_hyphen_if_there_is_no_duration) {
  EXPECT_EQ(format_duration(std::numeric_limits<double>::infinity()), "-");
  EXPECT_EQ(format_duration(std::numeric_limits<double>::quiet_NaN()), "-");
  EXPECT_EQ(format_duration(-1), "-");
}

}  // namespace
}  // namespace eckart::text
