#include "logging/terminal_line.hpp"

#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

namespace eckart::logging {
namespace {

int width_of_terminal(unsigned short cols) {
  const winsize size{.ws_row = 24, .ws_col = cols, .ws_xpixel = 0, .ws_ypixel = 0};
  int controller = -1, terminal = -1;
  if (openpty(&controller, &terminal, nullptr, nullptr, &size) != 0) return -1;
  const int width = terminal_width(terminal);
  close(controller);
  close(terminal);
  return width;
}

TEST(TerminalWidth, is_that_of_the_terminal) { EXPECT_EQ(width_of_terminal(113), 113); }

TEST(TerminalWidth, is_80_if_unknown) {
  EXPECT_EQ(width_of_terminal(0), 80);
  EXPECT_EQ(terminal_width(-1), 80);
}

}  // namespace
}  // namespace eckart::logging
