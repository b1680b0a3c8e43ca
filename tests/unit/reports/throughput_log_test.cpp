#include "reports/throughput_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/log_capture.hpp"
#include "tests/support/max_file_size.hpp"
#include "tests/support/temp_folder.hpp"

namespace eckart::reports {
namespace {

using test::MaxFileSize;
using test::TempFolder;
using testing::ElementsAre;

constexpr std::string_view kBegin = "head";
constexpr LogRotation kLargeFiles{.max_bytes = 1 << 20, .max_backups = 4};

std::vector<std::string> read_lines(const std::filesystem::path& file) {
  std::vector<std::string> lines;
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

class ThroughputLogTest : public testing::Test {
 protected:
  const TempFolder folder_;
  const std::filesystem::path file_ = folder_.path() / "throughput.log";

  void write(const std::string& text) { std::ofstream(file_) << text; }
  std::string read(const std::filesystem::path& file) const {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }
  std::string read() const { return read(file_); }
};

TEST_F(ThroughputLogTest, appends_and_starts_each_file_with_the_header) {
  write("head 0\n");
  ThroughputLog log(file_, {.max_bytes = 12, .max_backups = 1}, "head", kBegin);
  EXPECT_TRUE(log.write("one"));
  EXPECT_EQ(read(), "head 0\nhead\none\n");
  EXPECT_TRUE(log.write("two"));
  EXPECT_EQ(read(), "head\ntwo\n");
  EXPECT_EQ(read(folder_.path() / "throughput.1.log"), "head 0\nhead\none\n");
}

TEST_F(ThroughputLogTest, completes_the_partial_line_of_a_killed_process) {
  write("head 0\nhalf a li");
  ThroughputLog log(file_, kLargeFiles, "head", kBegin);
  EXPECT_TRUE(log.write("one"));
  EXPECT_EQ(read(), "head 0\nhalf a li\nhead\none\n");
}

TEST_F(ThroughputLogTest, does_not_change_another_file) {
  write("\x89PNG");
  ThroughputLog log(file_, kLargeFiles, "head", kBegin);
  EXPECT_FALSE(log.write("one"));
  EXPECT_EQ(read(), "\x89PNG");
}

TEST_F(ThroughputLogTest, does_not_rotate_another_file) {
  const auto foreign = folder_.path() / "throughput.2.log";
  std::ofstream(foreign) << "theirs";
  write("head 0\n");
  EXPECT_FALSE(
      ThroughputLog(file_, {.max_bytes = 12, .max_backups = 2}, "head", kBegin).write("one"));
  EXPECT_EQ(read(foreign), "theirs");
  EXPECT_EQ(read(), "head 0\n");
  EXPECT_TRUE(
      ThroughputLog(file_, {.max_bytes = 12, .max_backups = 1}, "head", kBegin).write("one"));
}

TEST_F(ThroughputLogTest, does_not_change_another_json_file) {
  for (const char* text : {R"({"precious": 1})", "{\n  \"a\": 1\n}\n", R"({"kind":"output"})"}) {
    write(text);
    EXPECT_FALSE(may_append(file_)) << text;
    EXPECT_FALSE(ThroughputLog(file_, kLargeFiles, R"({"kind":"run"})").write("line"));
    EXPECT_EQ(read(), text);
  }
  for (const char* text :
       {R"({"kind":"run","schema":"eckart.throughput/1"})", R"({"kind":"r)", "{", "",
        R"({"schema":"eckart.throughput/1","kind":"interval"})", R"({"schema":"eck)"}) {
    write(text);
    EXPECT_TRUE(may_append(file_)) << text;
    EXPECT_TRUE(ThroughputLog(file_, kLargeFiles, R"({"kind":"run"})").write("line"));
  }
}

TEST_F(ThroughputLogTest, does_not_wait_for_a_pipe) {
  ASSERT_EQ(::mkfifo(file_.c_str(), 0600), 0);
  EXPECT_FALSE(ThroughputLog(file_, kLargeFiles, "{}").write("line"));
}

TEST_F(ThroughputLogTest, reports_a_failed_write_and_repeats_the_header) {
  {
    const MaxFileSize nothing(0);
    ThroughputLog log(file_, kLargeFiles, "head", kBegin);
    EXPECT_FALSE(log.write("one"));
  }
  ThroughputLog log(file_, kLargeFiles, "head", kBegin);
  EXPECT_TRUE(log.write("one"));
  {
    const MaxFileSize full(12);
    EXPECT_FALSE(log.write("two and more"));
  }
  EXPECT_TRUE(log.write("three"));
  EXPECT_EQ(read(), "head\none\ntwo\nhead\nthree\n");
}

TEST(ThroughputLog, appends_to_an_existing_file) {
  const TempFolder folder;
  const auto file = folder.path() / "sub" / "log.jsonl";
  {
    ThroughputLog log(file, kLargeFiles, "head 1", kBegin);
    log.write("a");
    EXPECT_THAT(read_lines(file), ElementsAre("head 1", "a")) << "at once, and not at the end";
  }
  ThroughputLog(file, kLargeFiles, "head 2", kBegin).write("b");
  EXPECT_THAT(read_lines(file), ElementsAre("head 1", "a", "head 2", "b"));
}

TEST(ThroughputLog, rotates_and_starts_each_file_with_the_header) {
  const TempFolder folder;
  const auto file = folder.path() / "log.jsonl";
  const std::string line(40, 'x');
  ThroughputLog log(file, {.max_bytes = 100, .max_backups = 2}, "head", kBegin);
  for (int i = 0; i < 12; ++i) log.write(line + std::to_string(i));
  EXPECT_THAT(read_lines(file).front(), "head");
  EXPECT_EQ(read_lines(file).back(), line + "11");
  EXPECT_THAT(read_lines(folder.path() / "log.1.jsonl").front(), "head");
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "log.2.jsonl"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "log.3.jsonl"));
  EXPECT_LE(std::filesystem::file_size(file), 100u);
}

TEST(ThroughputLog, is_truncated_when_it_cannot_be_renamed) {
  const TempFolder folder;
  const auto file = folder.path() / "log.jsonl";
  std::filesystem::create_directories(folder.path() / "log.1.jsonl" / "not empty");
  ThroughputLog log(file, {.max_bytes = 20, .max_backups = 1}, "head", kBegin);
  EXPECT_FALSE(log.write("what has no room is lost"));
  EXPECT_TRUE(log.write("small"));
  EXPECT_THAT(read_lines(file), ElementsAre("head", "small"));
}

TEST(ThroughputLog, continues_after_a_write_error) {
  ThroughputLog nowhere("/proc/no/such/log.jsonl", kLargeFiles, "head", kBegin);
  EXPECT_FALSE(nowhere.write("a"));
  ThroughputLog full("/dev/full", kLargeFiles, "head", kBegin);
  EXPECT_FALSE(full.write("a"));
}

/// Once for each time that the disk is full, not for each line.
TEST_F(ThroughputLogTest, warns_once_until_it_can_write_again) {
  ThroughputLog log(file_, kLargeFiles, "head", kBegin);
  const test::LogCapture warnings;
  const auto fail_twice = [&] {
    const MaxFileSize limit(std::filesystem::file_size(file_));
    EXPECT_FALSE(log.write("lost"));
    EXPECT_FALSE(log.write("lost"));
  };
  const auto count = [&] {
    const std::string text = warnings.text();
    return std::count(text.begin(), text.end(), '\n');
  };
  fail_twice();
  EXPECT_EQ(count(), 1) << warnings.text();
  EXPECT_TRUE(warnings.text().starts_with("W cannot write the throughput log: "));
  EXPECT_TRUE(log.write("kept"));
  fail_twice();
  EXPECT_EQ(count(), 2) << warnings.text();
}

}  // namespace
}  // namespace eckart::reports
