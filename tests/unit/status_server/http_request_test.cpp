// Tests of parsing the head of a request and of serializing a response.
#include "status_server/http_request.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace eckart::status_server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(HttpRequest, has_method_path_query_and_headers) {
  const auto request = parse_http_request(
      "GET /status.json?a=1&since=17.5&b HTTP/1.1\r\nHost:localhost\r\nX-A: \t1 2 \r\nhost: b\r\n"
      "Empty:\r\n\r\n");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->method, "GET");
  EXPECT_EQ(request->path, "/status.json");
  EXPECT_EQ(request->query_value("since"), "17.5");
  EXPECT_EQ(request->query_value("b"), "");
  EXPECT_EQ(request->query_value("sinc"), "");
  EXPECT_EQ(request->version, "HTTP/1.1");
  EXPECT_THAT(request->header_values("HOST"), ElementsAre("localhost", "b"));
  EXPECT_THAT(request->header_values("x-a"), ElementsAre("1 2"));
  EXPECT_THAT(request->header_values("empty"), ElementsAre(""));
  EXPECT_THAT(request->header_values("hos"), IsEmpty());
}

TEST(HttpRequest, is_rejected_if_malformed) {
  for (const char* head :
       {"", "GET / HTTP/1.1", "GET / HTTP/1.1\r\n", "\r\n\r\n", "GET /\r\n\r\n",
        "GET  / HTTP/1.1\r\n\r\n", "GET / HTTP/2\r\n\r\n", "GET / HTTP/1.1 x\r\n\r\n",
        "GET http://localhost/ HTTP/1.1\r\n\r\n", "GET * HTTP/1.1\r\n\r\n", " / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost : a\r\n\r\n", "GET / HTTP/1.1\nHost: a\r\n\r\n"}) {
    EXPECT_FALSE(parse_http_request(head)) << head;
  }
}

TEST(HttpResponse, ends_its_connection_and_has_the_size_of_its_body) {
  const HttpResponse response{.status = 405, .body = "no\n", .headers = {{"Allow", "GET"}}};
  const std::string text = to_text(response, true);
  EXPECT_TRUE(text.starts_with("HTTP/1.1 405 Method Not Allowed\r\n")) << text;
  for (const char* line : {"Content-Length: 3", "Connection: close", "Cache-Control: no-store",
                           "X-Content-Type-Options: nosniff", "Allow: GET"})
    EXPECT_THAT(text, HasSubstr(std::string("\r\n") + line + "\r\n"));
  EXPECT_TRUE(text.ends_with("\r\n\r\nno\n")) << text;
}

TEST(HttpResponse, has_the_size_of_the_body_but_no_body_for_head) {
  const std::string text = to_text({.body = "whole"}, false);
  EXPECT_THAT(text, HasSubstr("\r\nContent-Length: 5\r\n"));
  EXPECT_THAT(text, Not(HasSubstr("whole")));
  EXPECT_TRUE(text.ends_with("\r\n\r\n"));
}

}  // namespace
}  // namespace eckart::status_server
