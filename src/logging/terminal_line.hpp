#pragma once

#include <mutex>
#include <string>
#include <string_view>

namespace eckart::logging {

/// The one line at the bottom of the terminal that is drawn over and over. Everything that writes
/// to the terminal while it may be shown goes through here, from any thread, in one write(2) each.
/// While nothing is shown no escape sequence is written, so a log that goes to a file stays clean.
class TerminalLine {
 public:
  explicit TerminalLine(int fd) : fd_(fd) {}
  TerminalLine(const TerminalLine&) = delete;
  TerminalLine& operator=(const TerminalLine&) = delete;

  /// Replaces the line. `line` must fit the terminal's width: a wrapped line cannot be erased.
  void show(std::string line);
  void erase() { show({}); }
  /// Writes `text`, which ends with a newline, and has the line below it.
  void print_above(std::string_view text);

 private:
  const int fd_;
  std::mutex mutex_;
  std::string line_;
};

/// That of stderr. Shared by the bar and the log, which otherwise know nothing of each other.
TerminalLine& stderr_line();

/// Columns of the terminal behind stderr; 80 where it does not say.
int stderr_width();

}  // namespace eckart::logging
