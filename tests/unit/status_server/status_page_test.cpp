// The behavior of the page is tested in a browser, by tests/page.
#include "status_server/page/status_page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace eckart::status_server {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(StatusPage, is_a_single_self_contained_html_file) {
  EXPECT_THAT(status_page(), StartsWith("<!doctype html>\n"));
  EXPECT_THAT(status_page(), EndsWith("</html>\n"));
  EXPECT_THAT(status_page(), HasSubstr("Content-Security-Policy"));
  EXPECT_THAT(status_page(), Not(HasSubstr("<script src")));
  EXPECT_THAT(status_page(), Not(HasSubstr("rel=\"stylesheet\"")));
}

}  // namespace
}  // namespace eckart::status_server
