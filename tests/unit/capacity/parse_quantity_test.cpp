#include "capacity/parse_quantity.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace eckart::capacity {
namespace {

TEST(QuantityParser, reads_rates_counts_and_times) {
  EXPECT_DOUBLE_EQ(parse_rate("2M/day"), 2e6 / 86400);
  EXPECT_DOUBLE_EQ(parse_rate("1.5M/h"), 1.5e6 / 3600);
  EXPECT_DOUBLE_EQ(parse_rate("30k/min"), 500);
  EXPECT_DOUBLE_EQ(parse_rate("250/s"), 250);
  EXPECT_DOUBLE_EQ(parse_count("500k"), 5e5);
  EXPECT_DOUBLE_EQ(parse_count("1234"), 1234);
  EXPECT_DOUBLE_EQ(parse_duration("6h"), 21600);
  EXPECT_DOUBLE_EQ(parse_duration("90min"), 5400);
  EXPECT_DOUBLE_EQ(parse_duration("1.5d"), 129600);
}

TEST(QuantityParser, accepts_every_unit_of_time) {
  const struct {
    const char* name;
    double seconds;
  } units[] = {{"s", 1},       {"sec", 1},       {"second", 1},     {"min", 60},
               {"minute", 60}, {"h", 3600},      {"hour", 3600},    {"d", 86400},
               {"day", 86400}, {"week", 604800}, {"year", 31557600}};
  for (const auto& [name, seconds] : units) {
    EXPECT_DOUBLE_EQ(parse_duration(std::string("2") + name), 2 * seconds) << name;
    EXPECT_DOUBLE_EQ(parse_rate(std::string("3/") + name), 3 / seconds) << name;
  }
}

TEST(QuantityParser, accepts_every_multiple_of_a_count) {
  EXPECT_DOUBLE_EQ(parse_count("2k"), 2e3);
  EXPECT_DOUBLE_EQ(parse_count("2K"), 2e3);
  EXPECT_DOUBLE_EQ(parse_count("2M"), 2e6);
  EXPECT_DOUBLE_EQ(parse_count("2G"), 2e9);
}

TEST(QuantityParser, reports_the_expected_format) {
  for (const char* text : {"", "2M", "/day", "2M/", "2X/day", "-2/s", "0/s", "2M/daily", "nan/s",
                           "1e9/s", "inf/s", "2 M/day"}) {
    EXPECT_THROW(parse_rate(text), std::invalid_argument) << text;
  }
  for (const char* text : {"", "k", "5kk", "-3", "0", "1e400"}) {
    EXPECT_THROW(parse_count(text), std::invalid_argument) << text;
  }
  for (const char* text : {"", "6", "h", "6hours", "-6h"}) {
    EXPECT_THROW(parse_duration(text), std::invalid_argument) << text;
  }
  try {
    parse_rate("fast");
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("'fast' is not a rate: expected"), std::string::npos);
  }
}

}  // namespace
}  // namespace eckart::capacity
