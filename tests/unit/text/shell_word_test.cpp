#include "text/shell_word.hpp"

#include <gtest/gtest.h>

#include <string>

namespace eckart::text {
namespace {

TEST(ShellWord, is_quoted_only_if_necessary) {
  EXPECT_EQ(shell_word("/srv/out_1.d"), "/srv/out_1.d");
  EXPECT_EQ(shell_word("my output"), "'my output'");
  EXPECT_EQ(shell_word("~user"), "'~user'") << "not a home folder";
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word("a\nb"), "$'a\\012b'");
  EXPECT_EQ(shell_word("").size(), 2u);
}

TEST(ShellWord, quotes_every_character_that_a_shell_interprets) {
  for (const char plain : std::string("/._-+=:@%,aZ09"))
    EXPECT_EQ(shell_word(std::string(1, plain)), std::string(1, plain));
  EXPECT_EQ(shell_word("ü.png"), "ü.png");
  for (const char special : std::string(" $`\"*?#&;|<>(){}[]!^~\\"))
    EXPECT_EQ(shell_word(std::string("a") + special), std::string("'a") + special + "'");
}

TEST(ShellWord, escapes_bytes_that_cannot_be_seen) {
  EXPECT_EQ(shell_word("\x01\xff \t\x7f~"), "$'\\001\\377 \\011\\177~'");
  EXPECT_EQ(shell_word("it's\\\n"), "$'it\\'s\\\\\\012'");
  EXPECT_EQ(shell_word("a\u202e"), "$'a\\342\\200\\256'");
}

}  // namespace
}  // namespace eckart::text
