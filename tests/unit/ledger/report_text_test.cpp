#include "ledger/report_text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace eckart::ledger {
namespace {

TEST(ReportText, separates_keys_from_values) {
  const auto split = split_report(R"({"a":1,"b":[2,3],"c":"x"})");
  ASSERT_TRUE(split);
  EXPECT_EQ(split->keys, R"("a","b","c")");
  EXPECT_EQ(split->values, R"(1,[2,3],"x")");
}

TEST(ReportText, is_restored_byte_by_byte) {
  for (const std::string report :
       {R"({"a":null})", R"({"a":-1.5e+300,"b":0.0,"c":true})", R"({"a":[],"b":[[1],[2,{"c":3}]]})",
        R"({"a":"","b":"],}{:,[","c":"\"\\","d\"\\,:":"\u00e9"})",
        R"({"a":{"b":1,"c":[2]},"d":{}})", "{\"a\":\"\xff\xc3\xa9\"}"}) {
    SCOPED_TRACE(report);
    const auto split = split_report(report);
    ASSERT_TRUE(split);
    EXPECT_EQ(join_report(split->keys, split->values), report);
  }
}

TEST(ReportText, is_split_only_if_it_can_be_restored) {
  for (const char* text : {"",
                           "{",
                           "{}",
                           "[1]",
                           "1",
                           "null",
                           "text",
                           R"({"a": 1})",
                           R"({"a":1 ,"b" :2})",
                           R"({ "a":1})",
                           R"({"a":1}})",
                           R"({"a":1} )",
                           R"({"a":1,})",
                           R"({"a":1)",
                           R"({"a":"1})",
                           R"({"a":[1})",
                           R"({"a)",
                           R"({"a")",
                           R"({a:1})",
                           R"({"a":1,2})"}) {
    SCOPED_TRACE(text);
    const auto split = split_report(text);
    EXPECT_TRUE(!split || join_report(split->keys, split->values) == text);
  }
  EXPECT_FALSE(split_report(R"({ "a":1})"));
  EXPECT_FALSE(split_report(R"({"a":1})"
                            "\n"));
  EXPECT_FALSE(split_report(R"({"a":1,})"));
  EXPECT_FALSE(split_report("{}"));
  EXPECT_FALSE(split_report(""));
}

TEST(ReportText, is_not_restored_from_damaged_parts) {
  EXPECT_FALSE(join_report(R"("a","b")", "1"));
  EXPECT_FALSE(join_report(R"("a")", "1,2"));
  EXPECT_FALSE(join_report(R"("a","b")", "1,[2"));
  EXPECT_FALSE(join_report(R"("a","b)", "1,2"));
  EXPECT_FALSE(join_report(R"("a",)", "1,2"));
  EXPECT_FALSE(join_report("", ""));
  EXPECT_FALSE(join_report("a", "1"));
}

}  // namespace
}  // namespace eckart::ledger
