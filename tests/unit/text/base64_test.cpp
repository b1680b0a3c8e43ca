#include "text/base64.hpp"

#include <gtest/gtest.h>

#include <array>

namespace eckart::text {
namespace {

std::string encoded(std::string_view bytes) { return base64(std::as_bytes(std::span(bytes))); }

TEST(Base64, equals_the_test_vectors_of_rfc_4648) {
  EXPECT_EQ(encoded(""), "");
  EXPECT_EQ(encoded("f"), "Zg==");
  EXPECT_EQ(encoded("fo"), "Zm8=");
  EXPECT_EQ(encoded("foo"), "Zm9v");
  EXPECT_EQ(encoded("foob"), "Zm9vYg==");
  EXPECT_EQ(encoded("fooba"), "Zm9vYmE=");
  EXPECT_EQ(encoded("foobar"), "Zm9vYmFy");
}

TEST(Base64, encodes_every_byte) {
  EXPECT_EQ(base64(std::array{std::byte{0xFF}, std::byte{0xEF}, std::byte{0xBE}}), "/+++");
}

}  // namespace
}  // namespace eckart::text
