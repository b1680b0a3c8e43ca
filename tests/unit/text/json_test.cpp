#include "text/json.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "text/group_digits.hpp"
#include "text/percent_text.hpp"
#include "text/unread_files_text.hpp"

namespace eckart::text {
namespace {

TEST(JsonText, has_null_for_a_number_that_json_does_not_have) {
  EXPECT_EQ(finite_or_null(1.5).dump(), "1.5");
  EXPECT_TRUE(finite_or_null(std::numeric_limits<double>::infinity()).is_null());
  EXPECT_TRUE(finite_or_null(-std::numeric_limits<double>::infinity()).is_null());
  EXPECT_TRUE(finite_or_null(std::numeric_limits<double>::quiet_NaN()).is_null());
}

TEST(JsonText, keeps_the_order_of_keys_and_replaces_what_is_not_utf8) {
  const Json json = {{"z", 1}, {"a", "\xff.png"}, {"m", "\u202e\n"}};
  EXPECT_EQ(dump_json(json), "{\"z\":1,\"a\":\"\ufffd.png\",\"m\":\"\\u202e\\n\"}");
  EXPECT_EQ(dump_json({{"z", 1}}, 2), "{\n  \"z\": 1\n}");
}

TEST(GroupedDigits, has_a_comma_before_each_group_of_three) {
  EXPECT_EQ(group_digits(0), "0");
  EXPECT_EQ(group_digits(999), "999");
  EXPECT_EQ(group_digits(1000), "1,000");
  EXPECT_EQ(group_digits(999999), "999,999");
  EXPECT_EQ(group_digits(-999), "-999");
  EXPECT_EQ(group_digits(-1000), "-1,000");
  EXPECT_EQ(group_digits(-123456), "-123,456");
  EXPECT_EQ(group_digits(std::numeric_limits<std::int64_t>::min()), "-9,223,372,036,854,775,808");
}

TEST(PercentText, is_rounded) {
  EXPECT_EQ(percent_text(0.974), "97 %");
  EXPECT_EQ(percent_text(0.996), "100 %");
  EXPECT_EQ(percent_text(0), "0 %");
}

TEST(UnreadFilesText, has_the_sum_and_the_number_of_each_extension) {
  EXPECT_EQ(unread_files_text({{".tif", 1}}), "1 file not read: 1 .tif");
  EXPECT_EQ(unread_files_text({{".tif", 1200}, {".heic", 3}, {"", 1}}),
            "1,204 files not read: 1,200 .tif, 3 .heic, 1 ");
}

}  // namespace
}  // namespace eckart::text
