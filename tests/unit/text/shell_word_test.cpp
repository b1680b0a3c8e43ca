#include "text/shell_word.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace eckart::text
