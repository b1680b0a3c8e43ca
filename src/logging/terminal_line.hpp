#pragma once

#include <mutex>
#include <string>
#include <string_view>

namespace eckart::logging {

/// The line at the bottom of the terminal that is redrawn. All output to the terminal while it may
/// be shown goes through this class: from any thread, one write(2) each. While no line is shown, no
/// escape sequence is written, so a log that is redirected to a file has none.
class TerminalLine {
 public:
  explicit TerminalLine(int fd) : fd_(fd) {}
  TerminalLine(const TerminalLine&) = delete;
  TerminalLine& operator=(const TerminalLine&) = delete;

  /// Replaces the line. `line` must fit the width of the terminal, because a wrapped line cannot be
  /// erased.
  void show(std::string line);
  void erase() { show({}); }
  /// Writes `text`, which must end with a newline, above the line.
  void print_above(std::string_view text);

 private:
  const int fd_;
  std::mutex mutex_;
  std::string line_;
};

/// The line of stderr, shared by the progress bar and the log.
TerminalLine& stderr_line();

/// Width of the terminal `fd` in columns; 80 if it is none, or does not know.
int terminal_width(int fd);

}  // namespace eckart::logging
