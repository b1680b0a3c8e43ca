#include "text/format_duration.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace eckart::text {
namespace {

TEST(DurationFormat, uses_at_least_two_digits_and_a_suitable_unit) {
  EXPECT_EQ(format_duration(1.94e-6), "1.9 us");
  EXPECT_EQ(format_duration(0.0164), "16 ms");
  EXPECT_EQ(format_duration(0.000999), "999 us");
  EXPECT_EQ(format_duration(0.0009996), "1.0 ms");
  EXPECT_EQ(format_duration(0.9996), "1.0 s");
  EXPECT_EQ(format_duration(72), "72 s");
  EXPECT_EQ(format_duration(1234), "1234 s");
}

TEST(DurationFormat, shows_a_dash_for_no_number) { EXPECT_EQ(format_duration(NAN), "-"); }

}  // namespace
}  // namespace eckart::text
