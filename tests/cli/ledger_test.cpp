// Tests the ledger with moved, copied and deleted inputs, and damaged, exported and imported
// ledgers.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cli/cli_fixture.hpp"

namespace eckart::test {
namespace {

class RunWithLedgerTest : public CliTest {
 protected:
  void SetUp() override {
    for (const char* name : {"in/a.png", "in/b.png", "in/deep/c.png"}) write_png(name);
    ASSERT_EQ(run({"run", "in", "-o", "out", "-k", "2"}).code, 0);
  }

  /// Returns the summary of a run.
  std::string summary(const std::string& input, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"run", input, "-o", "out", "--json", "-k", "2"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto json = nlohmann::json::parse(run(arguments).out);
    return json.at("done").dump() + " done, " + json.at("skipped").dump() + " skipped, " +
           json.at("failed").dump() + " failed";
  }
  void copy_tree(const std::string& from, const std::string& to, bool with_times) const {
    fs::copy(at(from), at(to), fs::copy_options::recursive);
    for (const auto& entry : fs::recursive_directory_iterator(at(to))) {
      const auto original = at(from) / entry.path().lexically_relative(at(to));
      if (entry.is_regular_file() && with_times) copy_times(original, entry.path());
    }
  }
  static void copy_times(const fs::path& from, const fs::path& to) {
    struct stat status {};
    ASSERT_EQ(::stat(from.c_str(), &status), 0);
    const timespec times[] = {status.st_atim, status.st_mtim};
    ASSERT_EQ(::utimensat(AT_FDCWD, to.c_str(), times, 0), 0);
  }
  void touch(const std::string& name) const {
    const timespec times[] = {{1000000000, 0}, {1000000000, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, at(name).c_str(), times, 0), 0);
  }
  /// Runs a shell command in which `eckart` is the program under test.
  ProcessResult run_shell(const std::string& command) {
    EckartProcess::Options shell;
    shell.program = "/bin/sh";
    const fs::path folder = fs::path(ECKART_PROGRAM).parent_path();
    return run({"-c", "PATH=" + folder.string() + ":$PATH; " + command}, shell);
  }
  std::string bytes(const std::string& name) const {
    std::ifstream stream(at(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
};

const std::vector<std::string> kByContent{"--set", "ledger.identity=content"};

TEST_F(RunWithLedgerTest, skips_a_moved_tree) {
  fs::rename(at("in"), at("moved"));
  EXPECT_EQ(summary("moved"), "0 done, 3 skipped, 0 failed");
  EXPECT_EQ(summary("moved"), "0 done, 3 skipped, 0 failed");
  EXPECT_THAT(run({"status", "out"}).out,
              AllOf(HasSubstr("3 done, 0 failed"), HasSubstr("\n0 pending")));
}

TEST_F(RunWithLedgerTest, skips_a_tree_copied_with_times) {
  copy_tree("in", "copy", true);
  EXPECT_EQ(summary("copy"), "0 done, 3 skipped, 0 failed");
  EXPECT_EQ(summary("in"), "0 done, 3 skipped, 0 failed");
}

TEST_F(RunWithLedgerTest, skips_a_tree_restored_in_place) {
  copy_tree("in", "backup", true);
  fs::remove_all(at("in"));
  fs::rename(at("backup"), at("in"));
  EXPECT_EQ(summary("in"), "0 done, 3 skipped, 0 failed");
}

TEST_F(RunWithLedgerTest, does_not_skip_an_input_that_was_moved_and_changed) {
  fs::rename(at("in"), at("moved"));
  write("moved/a.png", encoded("png", 25, 16));
  EXPECT_EQ(summary("moved"), "0 done, 2 skipped, 1 failed");
}

/// Files of both folders have equal sizes and mtimes by chance.
TEST_F(RunWithLedgerTest, distinguishes_two_folders_with_the_same_names) {
  const auto good = bytes("in/a.png");
  copy_tree("in", "other", true);
  std::string changed = good;
  changed[changed.size() / 2] ^= 1;
  write("other/a.png", changed);
  copy_times(at("in/a.png"), at("other/a.png"));
  const std::string before = bytes("out/a.png");
  EXPECT_EQ(summary("other"), "0 done, 2 skipped, 1 failed");
  EXPECT_EQ(bytes("out/a.png"), before);
}

TEST_F(RunWithLedgerTest, skips_copies_without_times_by_content) {
  ASSERT_EQ(summary("in", {"--set", "ledger.identity=content", "--overwrite"}),
            "3 done, 0 skipped, 0 failed");
  copy_tree("in", "copy", false);
  for (const char* name : {"copy/a.png", "copy/b.png", "copy/deep/c.png"}) touch(name);
  EXPECT_EQ(summary("copy", kByContent), "0 done, 3 skipped, 0 failed");
  touch("in/a.png");
  EXPECT_EQ(summary("in", kByContent), "0 done, 3 skipped, 0 failed");
}

TEST_F(RunWithLedgerTest, detects_a_change_of_same_size_and_times_by_content) {
  ASSERT_EQ(summary("in", {"--set", "ledger.identity=content", "--overwrite"}),
            "3 done, 0 skipped, 0 failed");
  fs::rename(at("in/a.png"), at("a.png"));
  std::string changed = bytes("a.png");
  changed[changed.size() / 2] ^= 1;
  write("in/a.png", changed);
  copy_times(at("a.png"), at("in/a.png"));
  EXPECT_EQ(summary("in", kByContent), "0 done, 2 skipped, 1 failed") << "its checksum is wrong";
}

TEST_F(RunWithLedgerTest, renames_a_ledger_without_a_table) {
  for (const char* sql : {"DROP TABLE output", "ALTER TABLE failure RENAME COLUMN reason TO r"}) {
    ASSERT_EQ(std::system(
                  ("sqlite3 '" + at("out/.eckart/ledger.db").string() + "' '" + sql + "'").c_str()),
              0);
    const ProcessResult status = run({"status", "out"});
    EXPECT_EQ(status.code, int(ExitCode::nothing_readable)) << status.out;
    const ProcessResult result = run({"run", "in", "-o", "out", "-k", "2"});
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(result.err, HasSubstr("renamed to ledger.db.damaged-"));
    EXPECT_EQ(summary("in"), "0 done, 3 skipped, 0 failed");
  }
}

using LedgerCommandTest = RunWithLedgerTest;

TEST_F(LedgerCommandTest, warns_of_a_ledger_that_it_renames_on_import) {
  ASSERT_EQ(run({"ledger", "export", "out", "backup.jsonl"}).code, 0);
  write("out/.eckart/ledger.db", std::string(5000, 'x'));
  const ProcessResult result = run({"ledger", "import", "out", "backup.jsonl"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("renamed to ledger.db.damaged-1"));
}

using PruneCommandTest = RunWithLedgerTest;

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
              AllOf(HasSubstr("1 file"), Not(HasSubstr("deep/c.png")), HasSubstr("1 kept, of ")));
  fs::create_directories(at("in/deep"));
  write_png("in/deep/d.png");
  ASSERT_EQ(run({"run", "in", "-o", "out", "-k", "2"}).code, 0);
  const ProcessResult status = run({"status", "out", "--orphans", "1"});
  EXPECT_THAT(status.out, HasSubstr("2 results whose inputs no longer exist"));
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

/// The run was killed before it recorded the output, and then the input was deleted.
TEST_F(PruneCommandTest, removes_an_unrecorded_result) {
  write_png("in/new.png");
  for (int call = 1; !fs::exists(at("out/new.png")) && call < 20; ++call)
    run({"run", "in", "-o", "out", "-k", "2"},
        {.fault = "folder:0:" + std::to_string(call) + ":1"});
  ASSERT_TRUE(fs::exists(at("out/new.png")));
  fs::remove(at("in/new.png"));
  EXPECT_THAT(run({"status", "out"}).out, HasSubstr("1 results whose inputs no longer exist"));
  EXPECT_THAT(run({"prune", "out", "--yes"}).out, HasSubstr("1 files removed"));
  EXPECT_THAT(files("out"), ElementsAre("a.png", "b.png", "deep/c.png"));
  EXPECT_THAT(run({"prune", "out", "--yes"}).out, HasSubstr("0 files removed"));
}

/// A publish intent of a version 3 ledger has no size.
TEST_F(PruneCommandTest, removes_an_unrecorded_result_of_unknown_size) {
  write_png("in/new.png");
  for (int call = 1; !fs::exists(at("out/new.png")) && call < 20; ++call)
    run({"run", "in", "-o", "out", "-k", "2"},
        {.fault = "folder:0:" + std::to_string(call) + ":1"});
  ASSERT_EQ(std::system(("sqlite3 '" + at("out/.eckart/ledger.db").string() +
                         "' 'UPDATE publish_intent SET bytes = -1'")
                            .c_str()),
            0);
  fs::remove(at("in/new.png"));
  EXPECT_THAT(run({"prune", "out", "--yes"}).out, HasSubstr("1 files removed"));
  EXPECT_FALSE(fs::exists(at("out/new.png")));
  const std::string count = "sqlite3 out/.eckart/ledger.db 'SELECT count(*) FROM publish_intent'";
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
  EXPECT_THAT(run({"prune", "out", "--yes"}).out, HasSubstr("1 files removed"));
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
  EXPECT_THAT(run({"prune", "out", "--yes"}).out, HasSubstr("0 files removed"));
  EXPECT_THAT(run({"prune", "out"}).out, HasSubstr("2 kept: modified after they were written"));
  EXPECT_TRUE(fs::exists(at("elsewhere/b.png")));
  EXPECT_TRUE(fs::exists(at("out/a.png")));
  EXPECT_TRUE(fs::exists(at("out/foreign.png")));
}

TEST_F(PruneCommandTest, follows_no_symlink_out_of_the_folder) {
  fs::remove_all(at("in/deep"));
  fs::rename(at("out/deep"), at("victim"));
  fs::create_directory_symlink(at("victim"), at("out/deep"));
  EXPECT_THAT(run({"prune", "out", "--yes"}).out, HasSubstr("0 files removed"));
  EXPECT_TRUE(fs::exists(at("victim/c.png")));
}

/// The folder of an unmounted disk is missing or empty.
TEST_F(PruneCommandTest, keeps_results_of_an_unmounted_disk) {
  fs::rename(at("in"), at("unmounted"));
  EXPECT_THAT(run({"prune", "out", "--yes"}).out, HasSubstr("0 files removed"));
  fs::create_directories(at("in"));
  EXPECT_THAT(run({"prune", "out", "--yes"}).out, HasSubstr("0 files removed"));
  fs::create_directories(at("in/deep"));
  EXPECT_THAT(run({"prune", "out", "--yes"}).out, HasSubstr("0 files removed"));
  write("in/other.txt", "of the empty folder");
  EXPECT_THAT(run({"prune", "out", "--yes"}).out, HasSubstr("0 files removed"))
      << "none of its inputs is there";
  EXPECT_THAT(run({"prune", "out"}).out, HasSubstr("3 kept, of "));
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
  EXPECT_THAT(run({"prune", "out", "--yes"}).out, HasSubstr("1 files removed"));
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

TEST_F(RunWithLedgerTest, accepts_its_own_ledger_by_path) {
  const ProcessResult result =
      run({"run", "in", "-o", "out", "-k", "2", "--ledger", "out/.eckart/ledger.db"});
  EXPECT_THAT(result.err, HasSubstr("3 skipped"));
  const std::string all = run({"ledger", "export", "out"}).out;
  EXPECT_EQ(run({"ledger", "export", "out", "--ledger", "./out/.eckart/../.eckart/ledger.db"}).out,
            all);
}

/// It would treat the outputs as its own, and remove missing ones from the ledger.
TEST_F(RunWithLedgerTest, rejects_the_ledger_of_another_folder) {
  for (const char* command : {"run in -o other", "status other"}) {
    const ProcessResult result =
        run_shell(std::string("eckart ") + command + " --ledger out/.eckart/ledger.db");
    EXPECT_EQ(result.code, int(ExitCode::usage)) << result.err;
    EXPECT_THAT(result.err, HasSubstr("out/.eckart/ledger.db belongs to "));
  }
}

/// As after a GPU loss, while another run has started with the same ledger.
TEST_F(RunWithLedgerTest, skips_its_own_results_after_a_restart) {
  const std::string shared = " --ledger shared.db -k 2 --overwrite";
  ASSERT_EQ(run_shell("eckart run in -o first" + shared).code, 0);
  ASSERT_EQ(run_shell("eckart run in -o second" + shared).code, 0);
  EXPECT_THAT(run_shell("ECKART_RESTARTS=$$:1:1; export ECKART_RESTARTS; exec eckart run in -o "
                        "first" +
                        shared)
                  .err,
              HasSubstr("3 skipped"));
}

TEST_F(LedgerCommandTest, skips_failures_of_changed_inputs_on_import) {
  write("in/bad.png", "no image");
  ASSERT_EQ(run({"run", "in", "-o", "out", "-k", "2"}).code, 3);
  ASSERT_EQ(run({"ledger", "export", "out", "backup.jsonl"}).code, 0);
  EXPECT_THAT(run({"ledger", "import", "out", "backup.jsonl"}).out, Not(HasSubstr("failures")));
  write_png("in/bad.png");
  ASSERT_EQ(run({"run", "in", "-o", "out", "-k", "2"}).code, 0);
  EXPECT_THAT(run({"ledger", "import", "out", "backup.jsonl"}).out, Not(HasSubstr("failures")));
  EXPECT_THAT(run({"status", "out"}).out, HasSubstr("4 done, 0 failed"));
}

/// Otherwise the export would look like an empty ledger.
TEST_F(LedgerCommandTest, fails_without_ledger_on_export) {
  fs::create_directory(at("empty"));
  const ProcessResult result = run({"ledger", "export", "empty"});
  EXPECT_EQ(result.code, int(ExitCode::no_input));
  EXPECT_EQ(result.out, "");
}

TEST_F(RunWithLedgerTest, keeps_a_damaged_database_of_another_program) {
  ASSERT_EQ(std::system(("sqlite3 '" + at("f.db").string() +
                         "' 'PRAGMA application_id = 77; CREATE TABLE t (x); PRAGMA "
                         "writable_schema = ON; UPDATE sqlite_master SET rootpage = 999'")
                            .c_str()),
            0);
  const auto before = fs::last_write_time(at("f.db"));
  fs::create_directory(at("folder"));
  for (const char* ledger : {"f.db", "folder"}) {
    const ProcessResult result = run({"run", "in", "-o", "out", "-k", "2", "--ledger", ledger});
    EXPECT_EQ(result.code, int(ExitCode::usage)) << result.err;
    EXPECT_THAT(result.err, HasSubstr("is not an eckart ledger"));
  }
  EXPECT_EQ(fs::last_write_time(at("f.db")), before);
  EXPECT_FALSE(fs::exists(at("f.db.damaged-1")));
}

/// Publish intents belong to a killed or a running process.
TEST_F(LedgerCommandTest, skips_publish_intents_on_export) {
  ASSERT_EQ(std::system(("sqlite3 '" + at("out/.eckart/ledger.db").string() +
                         "' \"INSERT INTO publish_intent SELECT * FROM output; "
                         "DELETE FROM output WHERE output = CAST('a.png' AS BLOB)\"")
                            .c_str()),
            0);
  ASSERT_EQ(run({"ledger", "export", "out", "backup.jsonl"}).code, 0);
  fs::remove_all(at("out/.eckart"));
  EXPECT_THAT(run({"ledger", "import", "out", "backup.jsonl"}).out,
              HasSubstr("2 outputs imported"));
}

TEST_F(PruneCommandTest, fails_while_the_folder_is_locked) {
  const int lock = ::open(at("out/.eckart/lock").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(::flock(lock, LOCK_EX), 0);
  EXPECT_EQ(run({"prune", "out", "--yes"}).code, int(ExitCode::temporary));
  ::close(lock);
}

TEST_F(LedgerCommandTest, restores_entries_by_export_and_import) {
  write("in/bad.png", "no image");
  EXPECT_EQ(run({"run", "in", "-o", "out", "-k", "2"}).code, 3);
  fs::rename(at("in/b.png"), at("in/b\xff.png"));
  EXPECT_EQ(run({"run", "in", "-o", "out", "-k", "2"}).code, 3);
  ASSERT_EQ(run({"ledger", "export", "out", "l.jsonl"}).code, 0);
  EXPECT_THAT(run({"ledger", "export", "out", "l.jsonl"}).err, HasSubstr("already exists"));
  const std::string before = run({"ledger", "export", "out"}).out;
  EXPECT_EQ(before, bytes("l.jsonl"));
  EXPECT_THAT(before,
              AllOf(HasSubstr("{\"eckart_ledger\":1,"), HasSubstr("\"hex\":\"62ff2e706e67\"")));
  fs::remove_all(at("out/.eckart"));
  fs::remove(at("out/a.png"));
  const ProcessResult imported = run({"ledger", "import", "out", "l.jsonl"});
  EXPECT_EQ(imported.code, 0) << imported.err;
  EXPECT_THAT(imported.out, HasSubstr("3 outputs imported, 0 already known, 1 missing"));
  EXPECT_THAT(run({"ledger", "import", "out", "l.jsonl"}).out,
              HasSubstr("0 outputs imported, 3 already known, 1 missing"));
  EXPECT_EQ(summary("in"), "1 done, 2 skipped, 1 failed") << "b.png is of no input any more";
  EXPECT_EQ(run({"ledger", "export", "out"}).out.size(), before.size());
}

TEST_F(LedgerCommandTest, rejects_an_invalid_line_and_changes_nothing_on_import) {
  const std::string good = run({"ledger", "export", "out"}).out;
  const std::string before = bytes("out/.eckart/ledger.db");
  const auto expect_refused = [&](const std::string& text, const std::string& why) {
    write("l.jsonl", text);
    const ProcessResult result = run({"ledger", "import", "out", "l.jsonl"});
    EXPECT_EQ(result.code, int(ExitCode::nothing_readable)) << text;
    EXPECT_THAT(result.err, HasSubstr(why));
  };
  expect_refused("", "the file is empty");
  expect_refused("garbage\n", "l.jsonl:1: invalid JSON from byte 1 on");
  expect_refused("{}\n", "l.jsonl:1: not a ledger export");
  expect_refused("{\"eckart_ledger\":2}\n", "l.jsonl:1: has version 2");
  expect_refused(good + "{\"output\":\"a\"}\n", "l.jsonl:6: key '");
  expect_refused(good + "{\"what\":1}\n", "has neither output nor failed");
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const std::size_t found = text.find(from);
    EXPECT_NE(found, text.npos) << from;
    return text.replace(found, from.size(), to);
  };
  expect_refused(with("\"output\":\"a.png\"", "\"output\":\"../a.png\""), "l.jsonl:3: output: ");
  expect_refused(with("\"output\":\"a.png\"", "\"output\":\"/a.png\""), "below the output folder");
  expect_refused(with("\"output\":\"a.png\"", "\"output\":{\"hex\":\"zz\"}"), "not hexadecimal");
  expect_refused(with("\"output_index\":0", "\"output_index\":\"0\""),
                 "output_index is not an integer");
  expect_refused(with("\"output_bytes\":", "\"output_bytes\":-"), "output_bytes: ");
  EXPECT_TRUE(bytes("out/.eckart/ledger.db") == before);
  EXPECT_EQ(run({"ledger", "import", "out", "none.jsonl"}).code, int(ExitCode::no_input));
  EXPECT_EQ(run({"ledger"}).code, int(ExitCode::usage));
}

}  // namespace
}  // namespace eckart::test
