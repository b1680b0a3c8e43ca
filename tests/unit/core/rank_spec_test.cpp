#include "core/rank_spec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace eckart {
namespace {

using Kind = RankPolicy::Kind;
using testing::ElementsAre;
using testing::HasSubstr;

/// The error, or an empty one.
RankSpecError error_of(std::string_view specs) {
  try {
    parse_ranks(specs);
  } catch (const RankSpecError& error) {
    return error;
  }
  return {specs, 0, "no error"};
}

TEST(RankSpec, parses_each_form) {
  const auto parse = [](std::string_view spec) { return parse_ranks(spec).front(); };
  EXPECT_EQ(parse("1"), RankPolicy(1));
  EXPECT_EQ(parse("2147483647"), RankPolicy(2147483647));
  EXPECT_EQ(parse("10%"), RankPolicy(Kind::percent, 10));
  EXPECT_EQ(parse("12.5%"), RankPolicy(Kind::percent, 12.5));
  EXPECT_EQ(parse("energy:0.99"), RankPolicy(Kind::energy, 0.99));
  EXPECT_EQ(parse("psnr:35"), RankPolicy(Kind::psnr, 35));
  EXPECT_EQ(parse("rmse:2.5"), RankPolicy(Kind::rmse, 2.5));
  EXPECT_EQ(parse("rmse:1e-8"), RankPolicy(Kind::rmse, 1e-8));
  EXPECT_EQ(parse("psnr:3.5E+1"), RankPolicy(Kind::psnr, 35));
  EXPECT_EQ(parse("1e3"), RankPolicy(1000));
  EXPECT_EQ(parse("bytes:50%"), RankPolicy(Kind::bytes, 50));
  EXPECT_EQ(parse("gd"), RankPolicy(Kind::gavish_donoho, 0));
  EXPECT_EQ(parse("gd:sigma=3"), RankPolicy(Kind::gavish_donoho, 3));
  EXPECT_EQ(parse("mp"), RankPolicy(Kind::marchenko_pastur, 0));
  EXPECT_EQ(parse("full"), RankPolicy(Kind::full, 0));
}

TEST(RankSpec, parses_a_list_in_order) {
  EXPECT_THAT(parse_ranks("40,5,20"), ElementsAre(40, 5, 20));
  EXPECT_THAT(parse_ranks(" 40, psnr:35 ,full "),
              ElementsAre(40, RankPolicy(Kind::psnr, 35), RankPolicy(Kind::full, 0)));
}

TEST(RankSpec, expands_a_range) {
  EXPECT_THAT(parse_ranks("5:20:5"), ElementsAre(5, 10, 15, 20));
  EXPECT_THAT(parse_ranks("1,5:14:4,mp"),
              ElementsAre(1, 5, 9, 13, RankPolicy(Kind::marchenko_pastur, 0)));
  EXPECT_THAT(parse_ranks("7:7:3"), ElementsAre(7));
  EXPECT_THAT(parse_ranks("5e0:1e1:5"), ElementsAre(5, 10));
  EXPECT_EQ(parse_ranks("1:1000:1").size(), 1000u);
}

TEST(RankSpec, formats_what_it_parses) {
  for (const char* spec :
       {"1", "20", "65535", "2147483647", "10%", "12.5%", "energy:0.99", "energy:0.9999999",
        "psnr:35", "rmse:0.001", "rmse:1e-8", "rmse:2.5e-12", "rmse:1e-100", "bytes:50%", "gd",
        "gd:sigma=3", "gd:sigma=0.1", "mp", "full"}) {
    EXPECT_EQ(to_string(parse_ranks(spec).front()), spec);
  }
}

TEST(RankSpec, marks_the_first_wrong_character) {
  const auto column = [](std::string_view specs) { return error_of(specs).position(); };
  EXPECT_EQ(column("20,energy=0.9"), 3U);
  EXPECT_EQ(column("energy:2"), 7U);
  EXPECT_EQ(column("psnr:x"), 5U);
  EXPECT_EQ(column("5,6x"), 3U);
  EXPECT_EQ(column("bytes:50"), 8U);
  EXPECT_EQ(column("gd:sigma"), 8U);
  EXPECT_EQ(column("gd:sigma3"), 8U);
  EXPECT_EQ(column("gd:3"), 3U);
  EXPECT_EQ(column("gd:sigma="), 9U);
  EXPECT_EQ(column("20,,30"), 3U);
  EXPECT_EQ(column("20,"), 3U);
  EXPECT_EQ(column("5:10"), 4U);
  EXPECT_EQ(column("5:3:1"), 2U);
  EXPECT_EQ(column("5:9:0"), 4U);
  EXPECT_EQ(column("101%"), 0U);
  EXPECT_EQ(column("rmse:1e"), 6U);
  EXPECT_EQ(column("rmse:1e-8x"), 9U);
  EXPECT_EQ(column("rmse:1e-999"), 5U);
  EXPECT_EQ(column("energy:1e1"), 7U);
  EXPECT_EQ(column("5:1e-1:1"), 2U);
  EXPECT_EQ(column("5:1e1:2e-1"), 6U);
  EXPECT_EQ(column("1e0:1e9:1"), 4U);
  EXPECT_EQ(column("1e10"), 0U);
}

TEST(RankSpec, says_what_was_expected) {
  for (const char* spec : {"",         "0",           "-5",      "+5",      "x",
                           "0x10",     "2147483648",  "nan",     "inf",     "99999999999999999999",
                           "5,",       ",5",          "5,,6",    "5, ,6",   "median",
                           "1.5",      "5 6",         "5\t",     "1e-3",    "2\n",
                           "energy:0", "energy:1.01", "energy:", "psnr:-1", "psnr:inf",
                           "mpx",      "gd:3",        "full:2",  "1:1001:1"}) {
    EXPECT_THROW(parse_ranks(spec), RankSpecError) << spec;
    EXPECT_THAT(error_of(spec).what(), HasSubstr("'" + std::string(spec) + "': at character "));
  }
  EXPECT_THAT(error_of("median").what(), HasSubstr("energy:0.99"));
  for (const char* spec : {"", "5,", ",5", "5,,6", "5, ,6"})
    EXPECT_EQ(error_of(spec).reason(), "a rank is missing") << spec;
  EXPECT_EQ(error_of("0").reason(), "ranks begin at 1");
  EXPECT_EQ(error_of("0:5:1").reason(), "ranks begin at 1");
  EXPECT_EQ(error_of("gd:sigma").reason(), "expected gd:sigma=3");
  EXPECT_THAT(error_of("0%").reason(), HasSubstr("more than 0%"));
  EXPECT_THAT(error_of("1.5").what(), HasSubstr("whole number"));
  EXPECT_THAT(error_of("energy:1.01").what(), HasSubstr("at most 1"));
}

TEST(RankSpec, rejects_duplicate_ranks) {
  EXPECT_THAT(error_of("5,6,5").what(), HasSubstr("'5' is listed twice"));
  EXPECT_THAT(error_of("5,05").what(), HasSubstr("'5' is listed twice"));
  EXPECT_THAT(error_of("10,5:15:5").what(), HasSubstr("'10' is listed twice"));
  EXPECT_THAT(error_of("psnr:35,psnr:35.0").what(), HasSubstr("'psnr:35' is listed twice"));
}

TEST(RankSpec, labels_suit_file_names) {
  const auto label = [](std::string_view spec) {
    return file_name_label(parse_ranks(spec).front());
  };
  EXPECT_EQ(label("20"), "20");
  EXPECT_EQ(label("10%"), "10pct");
  EXPECT_EQ(label("energy:0.99"), "energy-0.99");
  EXPECT_EQ(label("bytes:50%"), "bytes-50pct");
  EXPECT_EQ(label("gd:sigma=3"), "gd-sigma-3");
  EXPECT_EQ(label("rmse:1e-8"), "rmse-1e-8");
}

TEST(RankSpec, has_an_error_for_each_wrong_value) {
  struct Case {
    const char* specs;
    std::size_t position;
    const char* reason;
  };
  for (const Case& expected : {
           Case{"energy:1.01", 7, "expected a share of the energy, above 0 and at most 1"},
           Case{"energy:0", 7, "expected a share of the energy, above 0 and at most 1"},
           Case{"psnr:1001", 5, "expected a PSNR in dB, above 0 and at most 1000"},
           Case{"rmse:1000001", 5, "expected an error in levels, above 0 and at most 1000000"},
           Case{"bytes:x", 6, "expected a share of the bytes of the pixels, such as 50%"},
           Case{"bytes:1000001%", 6, "expected a share of the bytes of the pixels, such as 50%"},
           Case{"bytes:50", 8, "expected a percent sign"},
           Case{"gd:sigma=0", 9, "expected the standard deviation of the noise in levels, above 0"},
           Case{"gd:sigma=1000001", 9,
                "expected the standard deviation of the noise in levels, above 0"},
           Case{"5 6", 2, "expected a comma or the end of the list"},
           Case{"x", 0, "expected a rank"},
           Case{"0%", 0, "expected more than 0% and at most 100%"},
           Case{"100.5%", 0, "expected more than 0% and at most 100%"},
           Case{"1.5", 0, "expected a whole number, or a percent sign after it"},
           Case{"5:x", 2, "expected the last rank of the range"},
           Case{"5:8.5:1", 2, "expected a whole number: the last rank of the range"},
           Case{"5:4:1", 2, "the last rank of the range is below the first"},
           Case{"5:10", 4, "expected a colon and the step of the range"},
           Case{"5:9:0", 4, "expected the step of the range"},
           Case{"5:9:1.5", 4, "expected a whole number: the step of the range"},
           Case{"1:1001:1", 2, "the range has more than 1000 ranks"},
           Case{"20, 5,20", 6, "'20' is listed twice"},
       }) {
    const RankSpecError error = error_of(expected.specs);
    EXPECT_EQ(error.reason(), expected.reason) << expected.specs;
    EXPECT_EQ(error.position(), expected.position) << expected.specs;
    EXPECT_EQ(error.text(), expected.specs);
    EXPECT_EQ(error.what(), "'" + std::string(expected.specs) + "': at character " +
                                std::to_string(expected.position + 1) + ": " + expected.reason +
                                "; a rank is one of " + std::string(kRankGrammar));
  }
}

TEST(RankSpec, accepts_the_largest_values) {
  for (const char* spec : {"energy:1", "psnr:1000", "rmse:1000000", "bytes:1000000%",
                           "gd:sigma=1000000", "100%", "rmse:0.0001"}) {
    EXPECT_EQ(to_string(parse_ranks(spec)), spec);
  }
  EXPECT_EQ(to_string(parse_ranks("20,psnr:35, 10%")), "20,psnr:35,10%");
}

}  // namespace
}  // namespace eckart
