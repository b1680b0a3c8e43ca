// Tests which results of deleted inputs `eckart prune` removes.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>

#include "tests/cli/ledger_fixture.hpp"
#include "text/json.hpp"

namespace eckart::test {
namespace {

using ::testing::Contains;
using PruneCommandTest = RunWithLedgerTest;

std::vector<text::Json> json_lines(const std::string& text) {
  std::vector<text::Json> values;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) values.push_back(text::Json::parse(line));
  return values;
}

/// The damage is detected when a row is removed.
TEST_F(PruneCommandTest, warns_of_a_ledger_that_it_renames) {
  fs::remove(at("in/a.png"));
  ASSERT_EQ(std::system(("sqlite3 '" + at("out/.eckart/ledger.db").string() +
                         "' \"CREATE TRIGGER t BEFORE DELETE ON output BEGIN SELECT raise(ABORT, "
                         "'no'); END\"")
                            .c_str()),
            0);
  const ProcessResult result = run({"prune", "out", "--yes"});
  EXPECT_THAT(result.err, HasSubstr("renamed to ledger.db.damaged-1"));
}

TEST_F(PruneCommandTest, lists_and_removes_results_of_deleted_inputs) {
  fs::remove(at("in/a.png"));
  fs::remove_all(at("in/deep"));
  EXPECT_THAT(run({"prune", "out"}).out,
              AllOf(HasSubstr("1 file would be removed; use --yes to remove it"),
                    Not(HasSubstr("deep/c.png")), HasSubstr("1 kept, of ")));
  fs::create_directories(at("in/deep"));
  write_png("in/deep/d.png");
  ASSERT_EQ(run({"run", "in", "-o", "out", "-k", "2"}).code, 0);
  const ProcessResult status = run({"status", "out", "--orphans", "1"});
  EXPECT_THAT(status.out, HasSubstr("2 outputs whose inputs no longer exist"));
  EXPECT_THAT(status.out, AllOf(HasSubstr("a.png: "), Not(HasSubstr("c.png"))));
  const ProcessResult listed = run({"prune", "out"});
  EXPECT_EQ(listed.code, 0);
  EXPECT_THAT(listed.out, AllOf(HasSubstr("would remove a.png (its input "),
                                HasSubstr("would remove deep/c.png"),
                                HasSubstr("2 files would be removed; use --yes to remove them")));
  EXPECT_THAT(files("out"), ElementsAre("a.png", "b.png", "deep/c.png", "deep/d.png"));
  EXPECT_THAT(run({"prune", "out", "--yes"}).out, HasSubstr("2 files removed"));
  EXPECT_THAT(files("out"), ElementsAre("b.png", "deep/d.png"));
  EXPECT_THAT(run({"status", "out"}).out,
              AllOf(HasSubstr("2 done"), Not(HasSubstr("inputs no longer exist"))));
  EXPECT_THAT(run({"prune", "out", "--yes"}).out, HasSubstr("0 files removed"));
}

TEST_F(PruneCommandTest, removes_factors_of_deleted_inputs) {
  ASSERT_EQ(run({"run", "in", "-o", "out", "-k", "2", "--factors"}).code, 0);
  fs::remove(at("in/a.png"));
  EXPECT_THAT(run({"prune", "out", "--yes"}).out,
              AllOf(HasSubstr("removed a.npz (its input "), HasSubstr("2 files removed")));
  EXPECT_THAT(files("out"), ElementsAre("b.npz", "b.png", "deep/c.npz", "deep/c.png"));
}

TEST_F(PruneCommandTest, prints_json_lines_and_never_asks) {
  fs::remove(at("in/a.png"));
  const std::vector<text::Json> listed = json_lines(run({"prune", "out", "--json"}).out);
  ASSERT_EQ(listed.size(), 2u);
  EXPECT_EQ(listed[0]["kind"], "prune_output");
  EXPECT_EQ(listed[0]["output"], "a.png");
  EXPECT_EQ(listed[0]["removed"], false);
  EXPECT_EQ(listed[1]["kind"], "prune_summary");
  EXPECT_EQ(listed[1]["removable"], 1);
  EXPECT_EQ(listed[1]["removed"], 0);
  EXPECT_THAT(files("out"), Contains("a.png"));

  const std::vector<text::Json> removed = json_lines(run({"prune", "out", "--json", "--yes"}).out);
  ASSERT_EQ(removed.size(), 2u);
  EXPECT_EQ(removed[0]["removed"], true);
  EXPECT_EQ(removed[1]["removable"], 1);
  EXPECT_EQ(removed[1]["removed"], 1);
  EXPECT_THAT(files("out"), Not(Contains("a.png")));
}

/// The run was killed before it recorded the output, and then the input was deleted.
TEST_F(PruneCommandTest, removes_an_unrecorded_result) {
  write_png("in/new.png");
  for (int call = 1; !fs::exists(at("out/new.png")) && call < 20; ++call)
    run({"run", "in", "-o", "out", "-k", "2"},
        {.fault = "folder:0:" + std::to_string(call) + ":1"});
  ASSERT_TRUE(fs::exists(at("out/new.png")));
  fs::remove(at("in/new.png"));
  EXPECT_THAT(run({"status", "out"}).out, HasSubstr("1 output whose input no longer exists"));
  EXPECT_THAT(run({"prune", "out", "--yes"}).out, HasSubstr("1 file removed"));
  EXPECT_THAT(files("out"), ElementsAre("a.png", "b.png", "deep/c.png"));
  EXPECT_THAT(run({"prune", "out", "--yes"}).out, HasSubstr("0 files removed"));
}

/// A publish intent of a version 3 ledger has no size.
TEST_F(PruneCommandTest, removes_an_unrecorded_result_of_unknown_size) {
  write_png("in/new.png");
  for (int call = 1; !fs::exists(at("out/new.png")) && call < 20; ++call)
    run({"run", "in", "-o", "out", "-k", "2"},
        {.fault = "folder:0:" + std::to_string(call) + ":1"});
  // Moves the intents of the killed run to rows of publish_intent.
  run({"ledger", "export", "out", "backup.jsonl"});
  run({"ledger", "import", "out", "backup.jsonl"});
  ASSERT_EQ(std::system(("sqlite3 '" + at("out/.eckart/ledger.db").string() +
                         "' 'UPDATE publish_intent SET bytes = -1'")
                            .c_str()),
            0);
  const std::string count = "sqlite3 out/.eckart/ledger.db 'SELECT count(*) FROM publish_intent'";
  ASSERT_EQ(run_shell(count).out, "1\n");
  fs::remove(at("in/new.png"));
  EXPECT_THAT(run({"prune", "out", "--yes"}).out, HasSubstr("1 file removed"));
  EXPECT_FALSE(fs::exists(at("out/new.png")));
  EXPECT_EQ(run_shell(count).out, "0\n");
}

/// The recorded result has an existing input, and a killed run replaced it.
TEST_F(PruneCommandTest, keeps_an_unrecorded_result_of_an_existing_input) {
  write("in/a.png", encoded("png", 30, 20));
  const auto before = fs::last_write_time(at("out/a.png"));
  for (int call = 1; fs::last_write_time(at("out/a.png")) == before && call < 20; ++call)
    run({"run", "in", "-o", "out", "-k", "2"},
        {.fault = "folder:0:" + std::to_string(call) + ":1"});
  ASSERT_NE(fs::last_write_time(at("out/a.png")), before);
  EXPECT_THAT(run({"prune", "out", "--yes"}).out, HasSubstr("0 files removed"));
  fs::remove(at("in/a.png"));
  EXPECT_THAT(run({"prune", "out", "--yes"}).out, HasSubstr("1 file removed"));
  EXPECT_THAT(run({"status", "out"}).out, HasSubstr("2 done"));
}

TEST_F(PruneCommandTest, keeps_modified_and_foreign_files) {
  write("out/foreign.png", "mine");
  fs::remove(at("in/a.png"));
  fs::remove(at("in/b.png"));
  write("out/a.png", std::string(fs::file_size(at("out/a.png")), 'x'));  // of the same size
  fs::remove(at("out/b.png"));
  write("elsewhere/b.png", "another's");
  fs::create_symlink(at("elsewhere/b.png"), at("out/b.png"));
  const std::string kept = "kept, because it was modified: a.png (its input " +
                           at("in/a.png").string() + " no longer exists)\n";
  EXPECT_THAT(run({"prune", "out", "--yes"}).out,
              AllOf(HasSubstr("0 files removed"), HasSubstr(kept)));
  EXPECT_THAT(run({"prune", "out"}).out, AllOf(HasSubstr(kept), HasSubstr("modified: b.png")));
  EXPECT_THAT(run({"prune", "out", "--json"}).out,
              AllOf(HasSubstr("\"kind\":\"prune_kept\",\"output\":\"a.png\""),
                    HasSubstr("\"kept_modified\":2")));
  write_png("in/b.png");
  EXPECT_THAT(run({"prune", "out"}).out, AllOf(HasSubstr(kept), Not(HasSubstr("modified: b.png"))));
  EXPECT_TRUE(fs::exists(at("elsewhere/b.png")));
  EXPECT_TRUE(fs::exists(at("out/a.png")));
  EXPECT_TRUE(fs::exists(at("out/foreign.png")));
}

TEST_F(PruneCommandTest, removes_files_only_after_the_answer_yes) {
  fs::remove(at("in/a.png"));
  for (const char* answer : {"\n", "n\n", "yes please\n", "y\n"}) {
    EXPECT_TRUE(fs::exists(at("out/a.png")));
    EckartProcess prune({"prune", "out"}, {.folder = at(""), .in = answer, .on_terminal = true});
    EXPECT_EQ(prune.wait().code, 0);
    EXPECT_THAT(prune.terminal_output(), HasSubstr("Remove this file? [y/N] "));
  }
  EXPECT_FALSE(fs::exists(at("out/a.png")));
}

TEST_F(PruneCommandTest, follows_no_symlink_out_of_the_folder) {
  write_png("in/deep/d.png");
  ASSERT_EQ(run({"run", "in", "-o", "out", "-k", "2"}).code, 0);
  fs::remove(at("in/deep/c.png"));
  fs::rename(at("out/deep"), at("victim"));
  fs::create_directory_symlink(at("victim"), at("out/deep"));
  EXPECT_THAT(run({"prune", "out", "--yes"}).out, HasSubstr("0 files removed"));
  EXPECT_TRUE(fs::exists(at("victim/c.png")));
}

/// The folder of an unmounted disk is missing or empty.
TEST_F(PruneCommandTest, keeps_results_of_an_unmounted_disk) {
  fs::rename(at("in"), at("unmounted"));
  EXPECT_THAT(run({"prune", "out", "--yes"}).out, HasSubstr("0 files removed"));
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"prune", "out", "--include-empty"}, {"status", "out"}})
    EXPECT_THAT(run(command).out,
                HasSubstr("it is missing. If it was moved, process it at its new"));
  fs::create_directories(at("in"));
  EXPECT_THAT(run({"prune", "out", "--yes"}).out, HasSubstr("0 files removed"));
  fs::create_directories(at("in/deep"));
  EXPECT_THAT(run({"prune", "out", "--yes"}).out, HasSubstr("0 files removed"));
  write("in/other.txt", "of the empty folder");
  EXPECT_THAT(run({"prune", "out", "--yes"}).out, HasSubstr("0 files removed"))
      << "none of its inputs is there";
  EXPECT_THAT(run({"prune", "out"}).out, HasSubstr("3 kept, of "));
  EXPECT_THAT(run({"status", "out"}).out,
              HasSubstr("3 outputs of missing inputs in " + at("in").string()));
  EXPECT_THAT(run({"status", "out", "--json"}).out,
              HasSubstr("\"uncertain_orphans\":{\"" + at("in").string() + "/\":3}"));
  EXPECT_THAT(run({"prune", "out", "--yes", "--include-empty"}).out, HasSubstr("3 files removed"));
}

/// One of several disks is unplugged. Inputs from a list have the root of all files.
TEST_F(PruneCommandTest, keeps_results_of_an_unplugged_disk) {
  for (const char* name : {"media/D1/day1/a.png", "media/D2/b.png", "usb/c.png"}) write_png(name);
  ASSERT_EQ(run({"run", "media", "-o", "mout", "-k", "2"}).code, 0);
  ASSERT_EQ(run({"run", "--files-from", "-", "-o", "list", "-k", "2"},
                {.in = "usb/c.png\n" + at("media/D2/b.png").string() + "\n"})
                .code,
            0);
  fs::rename(at("media/D1"), at("unplugged"));
  fs::rename(at("usb/c.png"), at("unplugged/c.png"));
  write("usb/.keep", "beneath");
  for (const char* folder : {"mout", "list"}) {
    EXPECT_THAT(run({"prune", folder}).out, HasSubstr("1 kept, of "));
    EXPECT_THAT(run({"prune", folder, "--yes"}).out, HasSubstr("0 files removed"));
  }
}

TEST_F(PruneCommandTest, keeps_a_result_when_only_a_copy_was_deleted) {
  fs::copy(at("in"), at("copy"), fs::copy_options::recursive);
  for (const char* name : {"a.png", "b.png", "deep/c.png"})
    fs::last_write_time(at("copy") / name, fs::last_write_time(at("in") / name));
  EXPECT_THAT(run({"run", "copy", "-o", "out", "-k", "2"}).err, HasSubstr("3 skipped"));
  fs::remove(at("copy/a.png"));
  EXPECT_THAT(run({"prune", "out", "--yes"}).out, HasSubstr("0 files removed"));
  fs::remove(at("in/a.png"));
  EXPECT_THAT(run({"prune", "out", "--yes"}).out, HasSubstr("1 file removed"));
}

/// A size of -1 tells that a watch has moved or removed the input. It may have done so with others
/// that it could not record.
TEST_F(PruneCommandTest, keeps_results_of_a_folder_that_a_watch_empties) {
  ASSERT_EQ(
      std::system(("sqlite3 '" + at("out/.eckart/ledger.db").string() +
                   "' \"UPDATE output SET size = -1 WHERE CAST(output AS TEXT) = 'deep/c.png'\"")
                      .c_str()),
      0);
  fs::remove(at("in/deep/c.png"));
  fs::remove(at("in/a.png"));
  EXPECT_THAT(run({"prune", "out", "--yes"}).out,
              AllOf(HasSubstr("0 files removed"), HasSubstr("1 kept, of ")));
  EXPECT_THAT(files("out"), ElementsAre("a.png", "b.png", "deep/c.png"));
}

/// The input may be in the quarantine.
TEST_F(PruneCommandTest, keeps_the_result_of_an_input_that_has_failed_since) {
  write("in/a.png", "no image");
  ASSERT_EQ(run({"run", "in", "-o", "out", "-k", "2"}).code, 3);
  fs::remove(at("in/a.png"));
  EXPECT_THAT(run({"prune", "out", "--yes"}).out, HasSubstr("0 files removed"));
  EXPECT_THAT(files("out"), Contains("a.png"));
}

TEST_F(PruneCommandTest, keeps_results_without_recorded_times) {
  ASSERT_EQ(std::system(("sqlite3 '" + at("out/.eckart/ledger.db").string() +
                         "' 'UPDATE output SET output_mtime_ns = 0'")
                            .c_str()),
            0);
  fs::remove(at("in/a.png"));
  EXPECT_THAT(run({"prune", "out"}).out, HasSubstr("1 kept: no modification time"));
  EXPECT_THAT(run({"prune", "out", "--yes"}).out, HasSubstr("0 files removed"));
}

TEST_F(PruneCommandTest, fails_while_the_folder_is_locked) {
  const int lock = ::open(at("out/.eckart/lock").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(::flock(lock, LOCK_EX), 0);
  EXPECT_EQ(run({"prune", "out", "--yes"}).code, int(ExitCode::temporary));
  ::close(lock);
}

}  // namespace
}  // namespace eckart::test
