#include "reports/report_file.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <memory>
#include <sstream>

#include "core/error.hpp"
#include "files/file_descriptor.hpp"
#include "tests/support/max_file_size.hpp"
#include "tests/support/other_disk.hpp"
#include "tests/support/temp_folder.hpp"

namespace eckart::reports {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class ReportFileTest : public ::testing::Test {
 protected:
  static std::string contents(const fs::path& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }
  void write(const fs::path& file, const std::string& text) { std::ofstream(file) << text; }
  /// The exit code of the error of opening the report; ok if there is none.
  ExitCode open_error() {
    try {
      ReportFile report(file_);
      return ExitCode::ok;
    } catch (const FatalError& error) {
      return error.code();
    }
  }

  const test::TempFolder folder_;
  const fs::path file_ = folder_.path() / "r", part_ = folder_.path() / "r.part";
};

TEST_F(ReportFileTest, is_locked_by_one_run) {
  auto first = std::make_unique<ReportFile>(file_);
  first->write("one\n");
  try {
    ReportFile second(file_);
    ADD_FAILURE();
  } catch (const FatalError& error) {
    EXPECT_EQ(error.code(), ExitCode::temporary);
    EXPECT_THAT(error.what(), HasSubstr("r: another run is writing this report"));
  }
  fs::create_symlink("r", folder_.path() / "link");
  EXPECT_THROW(ReportFile(folder_.path() / "link"), FatalError);
  first->write("two\n");
  EXPECT_EQ(first->publish(), 0);
  EXPECT_EQ(contents(file_), "one\ntwo\n");
  EXPECT_FALSE(fs::exists(part_));
  first.reset();
  write(file_, "");
  EXPECT_EQ(open_error(), ExitCode::ok);
  EXPECT_EQ(open_error(), ExitCode::ok) << "though what a killed run leaves is there";
}

TEST_F(ReportFileTest, is_written_behind_a_relative_link_of_another_folder) {
  fs::create_directory(folder_.path() / "links");
  fs::create_symlink("../r", folder_.path() / "links/link");
  ReportFile report(folder_.path() / "links/link");
  report.write("one\n");
  EXPECT_EQ(report.publish(), 0);
  EXPECT_EQ(contents(file_), "one\n");
  EXPECT_TRUE(fs::is_symlink(folder_.path() / "links/link"));
}

TEST_F(ReportFileTest, fails_when_its_part_file_was_replaced) {
  ReportFile report(file_);
  report.write("one\n");
  fs::remove(part_);
  ReportFile other(file_);
  EXPECT_NE(report.publish(), 0);
  EXPECT_TRUE(fs::exists(part_));
  EXPECT_FALSE(fs::exists(file_));
}

TEST_F(ReportFileTest, replaces_only_reports) {
  for (const char* line :
       {R"({"kind":"output","input":"a","output":"b","result":"done"})",
        R"({"kind":"failure","input":"a","result":"failed","reason":"corrupt"})",
        R"({"file":"a","output":"b","result":"done"})", R"({"file":"a","output":"b","rank":2})",
        R"({"file":"a","failed":"corrupt","stage":"load"})"}) {
    write(file_, std::string(line) + "\nwhatever");
    EXPECT_EQ(open_error(), ExitCode::ok) << line;
  }
  write(file_, "");
  EXPECT_EQ(open_error(), ExitCode::ok);
  for (const char* text :
       {"{\"file\":\"a.png\",\"label\":3}\n", "{\"file\":\"a\"}\n", "{\"file\":1,\"result\":2}\n",
        "{\"input\":1,\"result\":2}\n", "{\"input\":\"a\",\"label\":3}\n",
        "{\"result\":\"done\"}\n", "[\"file\",\"result\"]\n", "\n", "\"file\"\n",
        "{\"file\":", "{\"fi", "{\"file\":\"a\",\"result\":\"done\"}", "text"}) {
    write(file_, text);
    EXPECT_EQ(open_error(), ExitCode::usage) << text;
    EXPECT_EQ(contents(file_), text);
    EXPECT_FALSE(fs::exists(part_) && fs::file_size(part_) > 0);
  }
}

TEST_F(ReportFileTest, replaces_only_the_part_file_of_a_killed_run) {
  for (const char* text :
       {"", "{\"fi", "{\"file\":", "{\"file\":\"a\",\"res", "{\"file\":\"a\",\"result\":\"done\"}",
        "{\"file\":\"a\",\"result\":\"done\"}\n{\"fi"}) {
    write(part_, text);
    EXPECT_EQ(open_error(), ExitCode::ok) << text;
  }
  for (const char* text : {"{\"file\":\"a.png\",\"label\":3}\n", "text", "{\"file\":3}\n{\"fi"}) {
    write(part_, text);
    EXPECT_EQ(open_error(), ExitCode::usage) << text;
    EXPECT_EQ(contents(part_), text);
  }
}

/// The descriptor may be of a log that a shell has opened for appending.
TEST_F(ReportFileTest, writes_to_a_pipe_that_is_read) {
  ASSERT_EQ(::mkfifo(file_.c_str(), 0600), 0);
  try {
    ReportFile report(file_);
    ADD_FAILURE() << "nothing reads the pipe";
  } catch (const FatalError& error) {
    EXPECT_EQ(error.code(), ExitCode::cannot_create);
    EXPECT_THAT(error.what(), HasSubstr("r cannot be created: no process reads this pipe"));
  }
  const files::FileDescriptor reader(::open(file_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  ReportFile report(file_);
  report.write("one\n");
  std::string text(100, 0);
  text.resize(std::size_t(std::max<ssize_t>(0, ::read(reader.get(), text.data(), text.size()))));
  EXPECT_EQ(text, "one\n");
}

TEST_F(ReportFileTest, appends_to_a_descriptor_path) {
  write(file_, "precious\n");
  const int descriptor = ::open(file_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  const std::string number = std::to_string(descriptor);
  const fs::path link = folder_.path() / "link";
  fs::create_symlink("/dev/fd/" + number, link);
  for (const fs::path& name : {fs::path("/dev/fd/" + number), fs::path("/proc/self/fd/" + number),
                               fs::path("/dev//./fd/" + number), link}) {
    ReportFile report(name);
    EXPECT_TRUE(report.is_direct());
    report.write("line\n");
    EXPECT_EQ(report.publish(), 0);
  }
  ::close(descriptor);
  EXPECT_EQ(contents(file_), "precious\nline\nline\nline\nline\n");
}

TEST_F(ReportFileTest, is_not_direct_in_shared_memory) {
  if (!test::has_other_disk()) GTEST_SKIP() << test::kNoOtherDisk;
  const test::TempFolder folder(test::kOtherDisk);
  const fs::path file = folder.path() / "report";
  {
    ReportFile report(file);
    EXPECT_FALSE(report.is_direct());
    EXPECT_EQ(report.publish(), 0);
  }
  EXPECT_TRUE(fs::remove(file));
}

/// A killed run may have left more lines than this one writes.
TEST_F(ReportFileTest, begins_with_an_empty_part_file) {
  write(part_, R"({"kind":"output","input":"/a.png","result":"done"})"
               "\n"
               R"({"kind":"output","input":"/b.png","result":"done"})"
               "\n");
  ReportFile report(file_);
  report.write("one\n");
  EXPECT_EQ(report.publish(), 0);
  EXPECT_EQ(contents(file_), "one\n");
}

/// Anybody may create it in a shared folder.
TEST_F(ReportFileTest, does_not_write_through_a_link_at_the_part_file) {
  const fs::path victim = folder_.path() / "victim";
  write(victim, "");
  fs::create_symlink(victim, part_);
  EXPECT_EQ(open_error(), ExitCode::cannot_create);
  EXPECT_TRUE(fs::is_empty(victim));
}

TEST_F(ReportFileTest, keeps_the_previous_report_if_the_disk_is_full) {
  write(file_, R"({"kind":"output","input":"/a.png","result":"done"})"
               "\n");
  const std::string before = contents(file_);
  ReportFile report(file_);
  const test::MaxFileSize limit(10);
  report.write(std::string(100, 'x'));
  report.write("y");
  EXPECT_EQ(report.publish(), EFBIG);
  EXPECT_EQ(contents(file_), before);
}

TEST_F(ReportFileTest, names_the_report_and_the_problem) {
  const auto error_of = [](const fs::path& file) {
    try {
      ReportFile report(file);
    } catch (const FatalError& error) {
      return std::to_string(int(error.code())) + ' ' + error.what();
    }
    return std::string();
  };
  const std::string cannot_create = std::to_string(int(ExitCode::cannot_create)) + " report ",
                    usage = std::to_string(int(ExitCode::usage)) + " report ";
  const fs::path no_folder = folder_.path() / "none" / "r";
  EXPECT_EQ(error_of(no_folder).find(cannot_create + no_folder.string() + " cannot be created: "),
            0U)
      << error_of(no_folder);
  const fs::path long_name = folder_.path() / std::string(300, 'x');
  EXPECT_EQ(error_of(long_name),
            cannot_create + long_name.string() + " cannot be created: File name too long");
  const fs::path csv = folder_.path() / "r.csv";
  for (const fs::path& file : {file_, csv}) write(file, "precious\n");
  EXPECT_EQ(error_of(file_),
            usage + file_.string() + ": the file exists and is not a report; choose another name");
  EXPECT_EQ(error_of(csv), usage + csv.string() +
                               ": the file exists and is not a CSV report; choose another name");
  EXPECT_EQ(contents(file_), "precious\n");
}

TEST_F(ReportFileTest, writes_to_stdout_if_its_name_is_a_dash) {
  EXPECT_TRUE(ReportFile("-").is_direct());
  EXPECT_FALSE(fs::exists("-.part"));
}

}  // namespace
}  // namespace eckart::reports
