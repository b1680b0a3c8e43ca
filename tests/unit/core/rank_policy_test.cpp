#include "core/rank_policy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace eckart {
namespace {

using testing::HasSubstr;

std::string error_message(std::string_view spec) {
  try {
    parse_ranks(spec);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no complaint";
}

TEST(RankPolicy, parses_a_positive_integer) {
  EXPECT_EQ(parse_rank("1").k, 1);
  EXPECT_EQ(parse_rank("20").k, 20);
  EXPECT_EQ(parse_rank("2147483647").k, 2147483647);
}

TEST(RankPolicy, formats_what_it_parses) {
  for (const char* spec : {"1", "20", "65535"}) EXPECT_EQ(to_string(parse_rank(spec)), spec);
}

TEST(RankPolicy, reports_an_invalid_spec_and_what_was_expected) {
  for (const char* spec : {"", "0", "-5", "+5", "5 6", "5\t", "5x", "x", "1.5", "1e3", "0x10",
                           "2147483648", "99999999999999999999", "2\n"}) {
    EXPECT_THROW(parse_rank(spec), std::invalid_argument) << spec;
    EXPECT_EQ(error_message(spec), "rank '" + std::string(spec) + "': expected a positive integer");
  }
}

TEST(RankPolicy, parses_a_list_in_order) {
  const auto policies = parse_ranks("40,5,20");
  ASSERT_EQ(policies.size(), 3u);
  EXPECT_EQ(policies[0].k, 40);
  EXPECT_EQ(policies[1].k, 5);
  EXPECT_EQ(policies[2].k, 20);
  EXPECT_EQ(parse_ranks("7").size(), 1u);
  EXPECT_EQ(parse_ranks(" 40, 5 ,20 "), policies);
}

TEST(RankPolicy, rejects_a_list_with_an_empty_element) {
  for (const char* specs : {"", ",", "5,", ",5", "5,,6", "5, ,6"}) {
    EXPECT_THROW(parse_ranks(specs), std::invalid_argument) << specs;
  }
}

TEST(RankPolicy, rejects_duplicate_ranks) {
  EXPECT_THAT(error_message("5,6,5"), HasSubstr("'5' is listed twice"));
  EXPECT_THAT(error_message("5,05"), HasSubstr("'5' is listed twice"));
}

TEST(RankPolicy, chooses_at_most_full_rank) {
  EXPECT_EQ(choose_rank({20}, 512, 512), 20);
  EXPECT_EQ(choose_rank({20}, 512, 8), 8);
  EXPECT_EQ(choose_rank({20}, 8, 512), 8);
  EXPECT_EQ(choose_rank({20}, 20, 20), 20);
  EXPECT_EQ(choose_rank({1}, 1, 1), 1);
}

}  // namespace
}  // namespace eckart
