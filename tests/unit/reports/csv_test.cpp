#include "reports/csv.hpp"

#include <gtest/gtest.h>

namespace eckart::reports {
namespace {

using Values = std::vector<std::string>;

TEST(Csv, quotes_only_what_must_be_quoted) {
  EXPECT_EQ(csv_row({"a b", "1.5", "", "x;y"}), "a b,1.5,,x;y\n");
  EXPECT_EQ(csv_row({"a,b", "say \"hi\"", "two\nlines"}),
            "\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\"\n");
}

TEST(Csv, reads_what_it_wrote) {
  for (const Values& values : {Values{"", ""}, Values{"a"}, Values{"\"", ",", "\n", "\r\n", "\"\""},
                               Values{"a,\"b\"\nc", "", "d"}}) {
    const std::string row = csv_row(values);
    EXPECT_TRUE(is_complete_csv_row(row));
    EXPECT_EQ(csv_values(row.substr(0, row.size() - 1)), values);
  }
}

TEST(Csv, knows_a_row_that_a_line_does_not_end) {
  EXPECT_FALSE(is_complete_csv_row("1,\"two"));
  EXPECT_TRUE(is_complete_csv_row("1,\"two\nlines\""));
}

TEST(CsvRow, quotes_values_with_any_line_break) {
  EXPECT_EQ(csv_row({"a\rb", "c\nd", "e,f", "g"}), "\"a\rb\",\"c\nd\",\"e,f\",g\n");
}

}  // namespace
}  // namespace eckart::reports
