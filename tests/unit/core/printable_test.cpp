#include "core/printable.hpp"

#include <gtest/gtest.h>

namespace eckart {
namespace {

TEST(Printable, LeavesOrdinaryTextAlone) {
  EXPECT_EQ(printable("a b/\xc3\xa4.png"), "a b/\xc3\xa4.png");
}

TEST(Printable, KeepsAMessageOnItsLineAndATerminalInPeace) {
  EXPECT_EQ(printable("a\nb\x1b[31m\x7f"), "a\\nb\\x1b[31m\\x7f");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
}

}  // namespace
}  // namespace eckart
