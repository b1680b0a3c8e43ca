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

}  // namespace
}  // namespace eckart::html
