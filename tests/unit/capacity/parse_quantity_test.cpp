#include "capacity/parse_quantity.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <sstream>
#include <stdexcept>
#include <string>

namespace eckart::capacity {
namespace {

TEST(QuantityParser, reads_rates_and_repeats_them_as_a_phrase) {
  const struct {
    const char *text, *phrase;
    double per_s;
  } cases[] = {{"50M/month", "50M a month", 50e6 * 12 / (365.25 * 86400)},
               {"1,700,000/day", "1,700,000 a day", 1.7e6 / 86400},
               {"2M/week", "2M a week", 2e6 / 604800},
               {"1B/year", "1B a year", 1e9 / 31557600},
               {"1.5M/h", "1.5M an hour", 1.5e6 / 3600},
               {"30k/min", "30k a minute", 500},
               {" 50 M / Month ", "50M a month", 50e6 * 12 / (365.25 * 86400)},
               {"250/s", "250 a second", 250}};
  for (const auto& [text, phrase, per_s] : cases) {
    EXPECT_DOUBLE_EQ(parse_rate(text).per_s(), per_s) << text;
    EXPECT_EQ(parse_rate(text).phrase, phrase);
  }
}

TEST(QuantityParser, reads_counts_with_multiples_and_commas) {
  EXPECT_DOUBLE_EQ(parse_count("1234").images, 1234);
  EXPECT_DOUBLE_EQ(parse_count("1,700,000").images, 1.7e6);
  EXPECT_DOUBLE_EQ(parse_count("1,700.5k").images, 1.7005e6);
  EXPECT_DOUBLE_EQ(parse_count("500k").images, 5e5);
  EXPECT_DOUBLE_EQ(parse_count("2K").images, 2e3);
  EXPECT_DOUBLE_EQ(parse_count("2M").images, 2e6);
  EXPECT_DOUBLE_EQ(parse_count("2G").images, 2e9);
  EXPECT_EQ(parse_count("500k").phrase, "500k images");
}

TEST(QuantityParser, accepts_every_unit_of_time) {
  const struct {
    const char* name;
    double seconds;
  } units[] = {{"s", 1},          {"seconds", 1},   {"min", 60},       {"minutes", 60},
               {"h", 3600},       {"hours", 3600},  {"d", 86400},      {"days", 86400},
               {"w", 604800},     {"week", 604800}, {"weeks", 604800}, {"month", 2629800},
               {"year", 31557600}};
  for (const auto& [name, seconds] : units) {
    EXPECT_DOUBLE_EQ(parse_deadline(std::string("2") + name, 0).seconds, 2 * seconds) << name;
    EXPECT_DOUBLE_EQ(parse_rate(std::string("3/") + name).per_s(), 3 / seconds) << name;
  }
}

TEST(QuantityParser, reads_a_deadline_as_a_duration_or_a_date) {
  EXPECT_EQ(parse_deadline("4w", 0).phrase, "in 4 weeks");
  EXPECT_EQ(parse_deadline("1d", 0).phrase, "in 1 day");
  EXPECT_EQ(parse_deadline("90min", 0).phrase, "in 90 min");
  ::setenv("TZ", "UTC0", 1);
  ::tzset();
  const std::time_t noon = 1798718400;  // 2026-12-31 12:00
  const Deadline date = parse_deadline("2026-12-31", noon);
  EXPECT_DOUBLE_EQ(date.seconds, 12 * 3600) << "until the end of that day";
  EXPECT_EQ(date.phrase, "by 2026-12-31");
  EXPECT_DOUBLE_EQ(parse_deadline("2027-01-02", noon).seconds, 60 * 3600);
  EXPECT_THROW(parse_deadline("2026-12-30", noon), std::invalid_argument) << "it is over";
  EXPECT_THROW(parse_deadline("2027-02-30", noon), std::invalid_argument) << "no such day";
}

TEST(QuantityParser, reads_a_deadline_in_summer) {
  ::setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
  ::tzset();
  const std::time_t noon = 1782900000;  // 2026-07-01 12:00
  EXPECT_DOUBLE_EQ(parse_deadline("2026-07-01", noon).seconds, 12 * 3600);
}

TEST(QuantityParser, accepts_every_name_of_a_unit) {
  const struct {
    const char* names;
    double seconds;
    const char *phrase, *period;
  } units[] = {{"s sec second seconds", 1, "in 2 s", "3 a second"},
               {"min minute minutes MIN", 60, "in 2 min", "3 a minute"},
               {"h hour hours hr H", 3600, "in 2 h", "3 an hour"},
               {"d day days D", 86400, "in 2 days", "3 a day"},
               {"w week weeks", 604800, "in 2 weeks", "3 a week"},
               {"mo month months", 2629800, "in 2 months", "3 a month"},
               {"y year years yr", 31557600, "in 2 years", "3 a year"}};
  for (const auto& [names, seconds, phrase, period] : units) {
    std::istringstream words(names);
    for (std::string name; words >> name;) {
      EXPECT_DOUBLE_EQ(parse_deadline("2" + name, 0).seconds, 2 * seconds) << name;
      EXPECT_EQ(parse_deadline("2" + name, 0).phrase, phrase) << name;
      EXPECT_EQ(parse_rate("3/" + name).phrase, period) << name;
      EXPECT_DOUBLE_EQ(parse_rate("3/" + name).per_s(), 3 / seconds) << name;
    }
  }
  EXPECT_EQ(parse_deadline("1w", 0).phrase, "in 1 week");
  EXPECT_EQ(parse_deadline("0.5d", 0).phrase, "in 0.5 days");
  EXPECT_EQ(parse_count("1").phrase, "1 image");
  EXPECT_DOUBLE_EQ(parse_count("3B").images, 3e9);
  EXPECT_DOUBLE_EQ(parse_count("12,345,678.5").images, 12345678.5);
}

TEST(QuantityParser, says_what_is_accepted_for_each_quantity) {
  const auto error = [](const auto& parse) {
    try {
      parse();
    } catch (const std::invalid_argument& invalid) {
      return std::string(invalid.what());
    }
    return std::string("none");
  };
  EXPECT_EQ(error([] { parse_count("many"); }),
            "'many' is not a number of images. Accepted: a number above 0, such as 1234, "
            "1,700,000, 500k or 2M");
  EXPECT_EQ(error([] { parse_deadline("soon", 0); }),
            "'soon' is not a deadline. Accepted: a duration such as 90min, 6h, 2d or 4w, or a date "
            "as 2026-12-31");
  EXPECT_EQ(error([] { parse_deadline("2026-12-31", 1900000000); }),
            "the deadline 2026-12-31 is over. Accepted: today or later");
  EXPECT_EQ(error([] { parse_shift("25 h"); }),
            "'25 h' is not a part of a day. Accepted: hours or minutes of a day, such as 8h or "
            "450min");
  EXPECT_EQ(error([] { parse_prices("gpu"); }),
            "'gpu' is not a list of prices. Accepted: core=PRICE/h, gpu=PRICE/h and kWh=PRICE, "
            "each at most once and above 0, separated by commas, such as "
            "core=0.04/h,gpu=3.50/h,kWh=0.30");
}

TEST(QuantityParser, takes_a_date_until_its_last_second) {
  ::setenv("TZ", "UTC0", 1);
  ::tzset();
  const std::time_t midnight = 1798761600;  // 2027-01-01 00:00
  EXPECT_DOUBLE_EQ(parse_deadline("2026-12-31", midnight - 1).seconds, 1);
  EXPECT_THROW(parse_deadline("2026-12-31", midnight), std::invalid_argument);
  EXPECT_DOUBLE_EQ(parse_deadline("2027-01-31", midnight).seconds, 31 * 86400);
}

TEST(QuantityParser, reads_a_shift_of_at_most_a_day) {
  EXPECT_DOUBLE_EQ(parse_shift("8h"), 28800);
  EXPECT_DOUBLE_EQ(parse_shift("450min"), 27000);
  EXPECT_DOUBLE_EQ(parse_shift("1d"), 86400);
  for (const char* text : {"25h", "8", "0h", "2d", "shift"})
    EXPECT_THROW(parse_shift(text), std::invalid_argument) << text;
}

TEST(QuantityParser, reads_prices) {
  const Prices all = parse_prices("core=0.04/h,gpu=3.50/h,kWh=0.30");
  EXPECT_DOUBLE_EQ(all.core_h, 0.04);
  EXPECT_DOUBLE_EQ(all.gpu_h, 3.5);
  EXPECT_DOUBLE_EQ(all.kwh, 0.3);
  EXPECT_DOUBLE_EQ(parse_prices("core=0.04").core_h, 0.04);
  EXPECT_DOUBLE_EQ(parse_prices("core=0.04, kWh=0.30").kwh, 0.3);
  for (const char* text : {"", "core", "core=", "cpu=3/h", "core=-1/h", "kWh=0.3/h", "core=1/day",
                           "core=1/h,core=2/h", "core=0,04/h"})
    EXPECT_THROW(parse_prices(text), std::invalid_argument) << text;
}

TEST(QuantityParser, rejects_other_text_and_names_what_is_accepted) {
  for (const char* text :
       {"", "2M", "/day", "2M/", "2X/day", "-2/s", "0/s", "2M/daily", "nan/s", "1e9/s", "inf/s",
        "2 per day", "1,70/day", "1,7000/day", ",700/day", "1,,700/day", "1.5.2/s"}) {
    EXPECT_THROW(parse_rate(text), std::invalid_argument) << text;
  }
  for (const char* text : {"", "k", "5kk", "-3", "0", "1e400", "1,5"}) {
    EXPECT_THROW(parse_count(text), std::invalid_argument) << text;
  }
  for (const char* text : {"", "6", "h", "6fortnights", "-6h", "2026-13-01", "2026-1-1x"}) {
    EXPECT_THROW(parse_deadline(text, 0), std::invalid_argument) << text;
  }
  try {
    parse_rate("fast");
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_EQ(std::string(error.what()),
              "'fast' is not a rate. Accepted: images per s, min, h, day, week, month or year, "
              "such as 50M/month, 1,700,000/day, 30k/h or 250/s");
  }
}

}  // namespace
}  // namespace eckart::capacity
