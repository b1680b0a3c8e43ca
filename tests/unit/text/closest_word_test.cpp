#include "text/closest_word.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace eckart::text {
namespace {

using testing::Eq;
using testing::Optional;

TEST(EditDistance, counts_insertions_deletions_replacements_and_swaps) {
  EXPECT_EQ(edit_distance("", "run"), 3u);
  EXPECT_EQ(edit_distance("run", "run"), 0u);
  EXPECT_EQ(edit_distance("rum", "run"), 1u);
  EXPECT_EQ(edit_distance("rnu", "run"), 1u);
  EXPECT_EQ(edit_distance("statsu", "status"), 1u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(ClosestWord, finds_the_word_that_was_meant) {
  const std::vector<std::string> commands = {"run", "requeue", "status", "synth", "bench"};
  EXPECT_THAT(closest_word("rum", commands), Optional(Eq("run")));
  EXPECT_THAT(closest_word("stauts", commands), Optional(Eq("status")));
  EXPECT_THAT(closest_word("req", commands), Optional(Eq("requeue")));
  EXPECT_THAT(closest_word("STATUS", commands), Optional(Eq("status")));
  EXPECT_THAT(closest_word("--ouput", {"--report", "--output"}), Optional(Eq("--output")));
}

TEST(ClosestWord, is_none_if_no_word_is_close) {
  EXPECT_EQ(closest_word("frobnicate", {"run", "status"}), std::nullopt);
  EXPECT_EQ(closest_word("", {"run", "status"}), std::nullopt);
  EXPECT_EQ(closest_word("s", {"status", "synth"}), std::nullopt);
  EXPECT_EQ(closest_word(std::string(10000, 'r'), {"run"}), std::nullopt);
}

TEST(ClosestWord, is_at_most_a_third_of_the_length_away) {
  EXPECT_THAT(closest_word("abcdef", {"abcdxy"}), Optional(Eq("abcdxy")));
  EXPECT_EQ(closest_word("abcdef", {"abcxyz"}), std::nullopt);
  EXPECT_EQ(closest_word("abcde", {"abcxy"}), std::nullopt);
  EXPECT_THAT(closest_word("ab", {"ax"}), Optional(Eq("ax"))) << "one letter always";
  EXPECT_THAT(closest_word("abcdef", {"abcdxy", "abcdex", "abcdey"}), Optional(Eq("abcdex")))
      << "the first of the closest";
  const std::string longest(64, 'a');
  EXPECT_THAT(closest_word(longest, {longest}), Optional(Eq(longest)));
  EXPECT_EQ(closest_word(longest + "a", {longest + "a"}), std::nullopt);
}

TEST(DidYouMean, is_a_question_or_empty) {
  EXPECT_EQ(did_you_mean("rum", {"run", "status"}), "; did you mean run?");
  EXPECT_EQ(did_you_mean("frobnicate", {"run", "status"}), "");
}

}  // namespace
}  // namespace eckart::text
