#include "logging/terminal_line.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <utility>

namespace eckart::logging {
namespace {

constexpr std::string_view kEraseLine = "\r\033[K";

/// Errors are ignored: there is no other place to report them.
void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written > 0) {
      text.remove_prefix(std::size_t(written));
    } else if (errno != EINTR) {
      return;
    }
  }
}

}  // namespace

void TerminalLine::show(std::string line) {
  const std::lock_guard lock(mutex_);
  if (line_.empty() && line.empty()) return;
  line_ = std::move(line);
  write_all(fd_, std::string(kEraseLine) + line_);
}

void TerminalLine::print_above(std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (line_.empty()) return write_all(fd_, text);
  write_all(fd_, std::string(kEraseLine).append(text) + line_);
}

TerminalLine& stderr_line() {
  static TerminalLine line(STDERR_FILENO);
  return line;
}

int terminal_width(int fd) {
  winsize size{};
  const bool is_known = ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return is_known ? size.ws_col : 80;
}

}  // namespace eckart::logging
