#include "html/page.hpp"

#include <gmock/gmock.h>

namespace eckart::html {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Page, escapes_its_title) {
  const std::string html = page("<i>'&\".png", "<p>text</p>");
  EXPECT_THAT(html, HasSubstr("<title>&lt;i&gt;&#39;&amp;&quot;.png</title>"));
  EXPECT_THAT(html, HasSubstr("<h1>&lt;i&gt;"));
  EXPECT_THAT(html, Not(HasSubstr("<i>")));
  EXPECT_THAT(html, HasSubstr("<p>text</p>"));
}

TEST(Page, names_the_column_of_each_cell) {
  const std::string html =
      table("Title", {"rank", "a<b"}, row({"1", "2"}, {"rank", "a<b"}), OnPhone::list);
  EXPECT_THAT(html, HasSubstr("<th scope='col'>a&lt;b</th>"));
  EXPECT_THAT(html, HasSubstr("<td data-head='a&lt;b'>2</td>"));
}

TEST(Page, is_complete_html) {
  const std::string html = page("A & B", "<p>text</p>\n");
  EXPECT_THAT(html, ::testing::StartsWith(
                        "<!doctype html>\n<html lang='en'>\n<head>\n<meta charset='utf-8'>\n"
                        "<meta name='viewport' content='width=device-width, initial-scale=1'>\n"
                        "<title>A &amp; B</title>\n<style>"));
  EXPECT_THAT(html, ::testing::EndsWith("</style>\n</head>\n<body>\n<h1>A &amp; B</h1>\n"
                                        "<p>text</p>\n</body>\n</html>\n"));
  EXPECT_THAT(html, HasSubstr(":root {"));
  EXPECT_EQ(escape("<>&\"' a"), "&lt;&gt;&amp;&quot;&#39; a");
}

TEST(Page, has_tables_with_a_title_and_rows) {
  const std::string rows = row({"<b>1</b>", "2"}, {"x", "y'"}) + row({"3"}, {"x", "y'"});
  EXPECT_EQ(rows,
            "<tr><td data-head='x'><b>1</b></td><td data-head='y&#39;'>2</td></tr>\n"
            "<tr><td data-head='x'>3</td></tr>\n");
  EXPECT_EQ(table("A<", {"x", "y"}, rows, OnPhone::list),
            "<h3>A&lt;</h3>\n<div class='wide list'><table><thead><tr><th scope='col'>x</th>"
            "<th scope='col'>y</th></tr></thead><tbody>\n" +
                rows + "</tbody></table></div>\n");
  EXPECT_EQ(table("", {"x"}, "", OnPhone::table),
            "<div class='wide'><table><thead><tr><th scope='col'>x</th></tr></thead><tbody>\n"
            "</tbody></table></div>\n");
}

TEST(Page, has_the_full_value_of_a_rounded_number) {
  EXPECT_EQ(data_element(0.1234567, "<0.12>"), "<data value='0.1234567'>&lt;0.12&gt;</data>");
}

}  // namespace
}  // namespace eckart::html
