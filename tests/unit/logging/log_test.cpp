#include "logging/log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cstdio>
#include <regex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "logging/progress.hpp"
#include "logging/terminal_line.hpp"

namespace eckart::logging {
namespace {

/// Redirects stderr to a temporary file until read() is called.
class CapturedStderr {
 public:
  CapturedStderr() : saved_(dup(STDERR_FILENO)), file_(std::tmpfile()) {
    dup2(fileno(file_), STDERR_FILENO);
  }
  ~CapturedStderr() {
    restore();
    std::fclose(file_);
  }
  std::string read() {
    restore();
    std::string text;
    std::rewind(file_);
    for (int c; (c = std::fgetc(file_)) != EOF;) text += char(c);
    return text;
  }

 private:
  void restore() {
    if (saved_ < 0) return;
    dup2(saved_, STDERR_FILENO);
    close(saved_);
    saved_ = -1;
  }
  int saved_;
  std::FILE* file_;
};

/// The text that a terminal shows: of each line, the part after the last erasure.
std::string visible_text(std::string written) {
  return std::regex_replace(written, std::regex("[^\n]*\r\033\\[K"), "");
}

TEST(Log, has_time_level_and_message_in_a_line) {
  CapturedStderr captured;
  start_log(0);
  spdlog::warn("disk {} is full", "a");
  EXPECT_TRUE(
      std::regex_match(captured.read(), std::regex("\\d\\d:\\d\\d:\\d\\d W disk a is full\n")));
}

TEST(Log, keeps_a_message_on_one_line) {
  CapturedStderr captured;
  start_log(0);
  spdlog::warn("a\nb\x1b[2J \xff \u009b2J \u202egnp.a \\n");
  EXPECT_THAT(captured.read(),
              testing::EndsWith(" W a\\nb\\x1b[2J \\xff \\u{9b}2J \\u{202e}gnp.a \\n\n"));
}

TEST(Log, selects_the_levels_by_verbosity) {
  const std::string expected[] = {"E", "EW", "EWI", "EWID", "EWIDT"};
  for (int verbosity = -2; verbosity <= 2; ++verbosity) {
    CapturedStderr captured;
    start_log(verbosity);
    spdlog::error("x");
    spdlog::warn("x");
    spdlog::info("x");
    spdlog::debug("x");
    spdlog::trace("x");
    const std::string letters =
        std::regex_replace(captured.read(), std::regex("[0-9:]+ (.) x\n"), "$1");
    EXPECT_EQ(letters, expected[verbosity + 2]);
  }
}

TEST(Log, does_not_interleave_lines_of_many_threads) {
  CapturedStderr captured;
  start_log(0);
  stderr_line().show("50%|###...|");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 250; ++i) {
        spdlog::info("a message of one line");
        stderr_line().show("51%|###...|");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  stderr_line().erase();
  const std::string shown = visible_text(captured.read());
  const std::regex whole("[0-9:]{8} I a message of one line");
  std::istringstream lines(shown);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    EXPECT_TRUE(std::regex_match(line, whole)) << line;
  }
  EXPECT_EQ(count, 1000);
}

TEST(Log, keeps_the_progress_bar_below_its_lines) {
  CapturedStderr captured;
  start_log(0);
  stderr_line().show("the bar");
  spdlog::info("hello");
  const std::string shown = visible_text(captured.read());
  EXPECT_THAT(shown, testing::EndsWith("I hello\nthe bar"));
  stderr_line().erase();
}

TEST(ProgressBar, draws_at_once_and_erases_itself) {
  CapturedStderr captured;
  {
    const ProgressBar bar([] { return telemetry::ProgressState{7, 0, 9, true}; });
  }
  const std::string written = captured.read();
  EXPECT_THAT(written, testing::HasSubstr(" 77%|"));
  EXPECT_EQ(visible_text(written), "");
}

}  // namespace
}  // namespace eckart::logging
