#include "text/first_characters.hpp"

#include <gtest/gtest.h>

namespace eckart::text {
namespace {

TEST(FirstCharacters, cuts_no_character) {
  EXPECT_EQ(first_characters("abc", 2), "ab");
  EXPECT_EQ(first_characters("aäb", 2), "aä");
  EXPECT_EQ(first_characters("→€😀", 2), "→€");
  EXPECT_EQ(first_characters("→€😀", 3), "→€😀");
  EXPECT_EQ(first_characters("", 2), "");
  EXPECT_EQ(first_characters("ä", 0), "");
}

}  // namespace
}  // namespace eckart::text
