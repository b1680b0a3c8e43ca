// Tests a run into the output folder of a run that was killed, or whose ledger is damaged or cannot
// be written.
#include <signal.h>

#include <cerrno>
#include <fstream>
#include <string>
#include <vector>

#include "tests/cli/resume_fixture.hpp"

namespace eckart::test {
namespace {

TEST_F(ResumeTest, continues_with_new_ledger_when_pages_are_damaged) {
  for (int i = 0; i < 200; ++i) write_png("in/many/" + std::to_string(i) + ".png");
  ASSERT_EQ(run({"run", "in", "-o", "out", "-k", "2"}).code, 0);
  constexpr std::streamoff kPage = 4096;
  for (const int page : {2, 3, 4, 5}) {
    std::fstream file(at("out/.eckart/ledger.db"), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(page * kPage) << std::string(kPage, char(0xa5));
  }
  const ProcessResult result = run({"run", "in", "-o", "out", "-k", "2"});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(count_occurrences(result.err, "renamed to ledger.db.damaged-1"), 1) << result.err;
  EXPECT_EQ(run({"run", "in", "-o", "out", "-k", "2"}).code, 0);
  EXPECT_EQ(rerun().failed, 0);
  EXPECT_FALSE(fs::exists(at("out/.eckart/ledger.db.damaged-2")));
}

TEST_F(ResumeTest, renames_damaged_ledger_and_processes_all) {
  write("out/.eckart/ledger.db", std::string(5000, 'x'));
  const ProcessResult status = run({"status", "out"});
  EXPECT_EQ(status.code, int(ExitCode::nothing_readable));
  EXPECT_THAT(status.err, HasSubstr("ledger.db: file is not a database. The ledger is damaged"));
  const ProcessResult dry = run({"run", "in", "-o", "out", "-k", "2", "--dry-run"});
  EXPECT_THAT(dry.err, HasSubstr("The next run renames it"));
  EXPECT_THAT(
      dry.err,
      HasSubstr(
          "to resolve 3 collisions, run without --dry-run, which keeps equal files; for others, "));
  const ProcessResult result = run({"run", "in", "-o", "out", "-k", "2"});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, HasSubstr("renamed to ledger.db.damaged-1. Without its records, "));
  EXPECT_THAT(result.err, HasSubstr("3 done"));
  EXPECT_EQ(rerun(), (RunCounts{0, 3, 0}));
}

TEST_F(ResumeTest, removes_temporaries_of_a_killed_run) {
  const Names before = files("out");
  write("out/.eckart-0123456789abcdef-7.tmp", "half");
  write("out/deep/.eckart-0123456789abcdef-8.tmp", "half");
  EXPECT_EQ(rerun(), (RunCounts{0, 3, 0}));
  EXPECT_EQ(files("out"), before);
}

/// A run is killed at every system call that writes outputs or ledger. The next run completes the
/// work.
class ResumeAfterKillTest : public ResumeTest,
                            public ::testing::WithParamInterface<std::vector<std::string>> {};

/// With sanitizers, only every seventh call is tested: each test starts two processes, which
/// start slowly.
constexpr int kCallStride = kIsSanitized ? 7 : 1;

TEST_P(ResumeAfterKillTest, completes_work_of_the_killed_run) {
  const Names expected = files("out");
  int kills = 0;
  ASSERT_EQ(run({"run", "in", "-o", "out", "-k", "2"}).code, 0);
  for (bool killed = true; killed;) {  // each time all is done at first
    for (const std::string& missing : GetParam()) fs::remove_all(at(missing));
    const std::string fault = "any:0:" + std::to_string(1 + kills * kCallStride) + ":1";
    const ProcessResult first = run({"run", "in", "-o", "out", "-k", "2"}, {.fault = fault});
    killed = first.code != 0;
    if (!killed) break;
    ASSERT_EQ(first.code, -SIGKILL) << first.err;
    ++kills;
    SCOPED_TRACE(::testing::Message() << "killed with " << fault);
    for (const std::string& name : files("out")) {
      if (fs::path(name).filename().native().starts_with(".eckart-")) continue;
      EXPECT_NO_THROW(decode("out/" + name)) << name;
    }
    const ProcessResult second = run({"run", "in", "-o", "out", "-k", "2"});
    ASSERT_EQ(second.code, 0) << second.err;
    EXPECT_EQ(files("out"), expected) << "and no temporaries";
    for (const std::string& name : expected) EXPECT_NO_THROW(decode("out/" + name)) << name;
  }
  EXPECT_GT(kills * kCallStride, GetParam().empty() ? 5 : 30);
  RecordProperty("kills", kills);
}

INSTANTIATE_TEST_SUITE_P(, ResumeAfterKillTest,
                         ::testing::Values(std::vector<std::string>{"out"},
                                           std::vector<std::string>{"out/deep/c.png"},
                                           std::vector<std::string>{}),
                         [](const auto& test) -> std::string {
                           return test.param.empty()            ? "nothing"
                                  : test.param.front() == "out" ? "everything"
                                                                : "one_image";
                         });

/// A write error of the ledger stops the run, like a write error of an output.
TEST_F(ResumeTest, stops_when_the_ledger_cannot_be_written) {
  for (const int error : {ENOSPC, EIO}) {
    fs::remove_all(at("out"));
    const ProcessResult result = run({"run", "in", "-o", "out", "-k", "2"},
                                     {.fault = "ledger:" + std::to_string(error) + ":8:1000000"});
    EXPECT_EQ(result.code, int(ExitCode::io_error)) << result.err;
    EXPECT_THAT(result.err, HasSubstr("ledger out/.eckart/ledger.db: "));
    for (const std::string& name : files("out")) EXPECT_NO_THROW(decode("out/" + name)) << name;
    EXPECT_EQ(run({"run", "in", "-o", "out", "-k", "2"}).code, 0);
    EXPECT_EQ(rerun(), (RunCounts{0, 3, 0}));
  }
}

}  // namespace
}  // namespace eckart::test
