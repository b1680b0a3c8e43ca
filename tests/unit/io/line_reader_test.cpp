#include "io/line_reader.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "files/file_descriptor.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/waiting_thread.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;

class LineReaderTest : public ::testing::Test {
 protected:
  /// Returns the lines; instead, the exit code and the message of an error without the file name.
  std::vector<std::string> read(const fs::path& list, char separator = '\n') const {
    try {
      LineReader reader(list, separator);
      std::vector<std::string> lines;
      while (std::optional<std::string> line = reader.next({})) lines.push_back(*line);
      return lines;
    } catch (const FatalError& error) {
      const std::string what = error.what(), begin = list.string() + ": ";
      EXPECT_TRUE(what.starts_with(begin)) << what;
      return {error.code() == ExitCode::usage      ? "usage"
              : error.code() == ExitCode::no_input ? "no input"
                                                   : "other",
              what.substr(begin.size())};
    }
  }
  fs::path write(const std::string& text) const {
    std::ofstream(folder_.path() / "list", std::ios::binary) << text;
    return folder_.path() / "list";
  }

  using Lines = std::vector<std::string>;
  const test::TempFolder folder_;
};

TEST_F(LineReaderTest, names_the_file_that_cannot_be_read) {
  EXPECT_EQ(read(folder_.path()), (Lines{"no input", "cannot be opened: Is a directory"}));
  EXPECT_EQ(read(folder_.path() / "none"),
            (Lines{"no input", "cannot be opened: No such file or directory"}));
  EXPECT_EQ(read("/proc/self/mem"), (Lines{"no input", "reading failed: Input/output error"}));
}

TEST_F(LineReaderTest, reports_what_is_wrong_with_a_list) {
  const std::string long_name(70000, 'x'), many_lines = "a\n" + long_name;
  EXPECT_EQ(read(write(long_name)),
            (Lines{"usage", "a line is too long for a path; give one path per line"}));
  EXPECT_EQ(read(write(std::string("a\0b", 3))),
            (Lines{"usage",
                   "contains a null byte; give one path per line, or use --files-from0 for a list "
                   "with null bytes"}));
  for (const std::string& text : {std::string("a\nb\n"), many_lines})
    EXPECT_EQ(read(write(text), '\0'),
              (Lines{"usage",
                     "contains newlines and no null byte; use --files-from for a list with one "
                     "path per line"}));
}

TEST_F(LineReaderTest, returns_each_line_of_a_list) {
  EXPECT_EQ(read(write("a\n\nb c\r\nd")), (Lines{"a", "", "b c\r", "d"}));
  EXPECT_EQ(read(write(std::string("a\0b\nc", 5)), '\0'), (Lines{"a", "b\nc"}));
  EXPECT_EQ(read(write("")), Lines());
}

TEST_F(LineReaderTest, returns_no_incomplete_line_after_a_stop) {
  const fs::path pipe = folder_.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const files::FileDescriptor writer(::open(pipe.c_str(), O_RDWR | O_CLOEXEC));
  LineReader reader(pipe);
  ASSERT_EQ(::write(writer.get(), "half", 4), 4);
  std::stop_source stop;
  test::WaitingThread waiting([&] { EXPECT_EQ(reader.next(stop.get_token()), std::nullopt); });
  ASSERT_TRUE(waiting.wait_until_asleep());
  stop.request_stop();
  waiting.join();
  ASSERT_EQ(::write(writer.get(), " done\n", 6), 6);
  EXPECT_EQ(reader.next({}), "half done");
}

}  // namespace
}  // namespace eckart::io
