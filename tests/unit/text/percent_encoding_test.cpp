#include "text/percent_encoding.hpp"

#include <gtest/gtest.h>

#include <string>

namespace eckart::text {
namespace {

TEST(PercentEncoding, keeps_unreserved_characters_and_slashes_only) {
  const std::string kept = "/ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
  std::string bytes, expected;
  for (int byte = 1; byte < 256; ++byte) {
    bytes += char(byte);
    char escape[4];
    std::snprintf(escape, sizeof escape, "%%%02X", unsigned(byte));
    expected += kept.find(char(byte)) == kept.npos ? escape : std::string(1, char(byte));
  }
  EXPECT_EQ(percent_encode_path(bytes), expected);
  EXPECT_EQ(percent_encode_path("/srv/a b/100%/\xc3\xa4.png"), "/srv/a%20b/100%25/%C3%A4.png");
  EXPECT_EQ(percent_encode_path(""), "");
}

}  // namespace
}  // namespace eckart::text
