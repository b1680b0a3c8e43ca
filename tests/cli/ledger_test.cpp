// Tests the ledger with moved, copied and changed inputs, and ledgers that are damaged or of
// others.
#include <cstdlib>

#include "tests/cli/ledger_fixture.hpp"

namespace eckart::test {
namespace {

const std::vector<std::string> kByContent{"--set", "ledger.identity=content"};

TEST_F(RunWithLedgerTest, skips_a_moved_tree) {
  fs::rename(at("in"), at("moved"));
  EXPECT_EQ(summary("moved"), "0 done, 3 skipped, 0 failed");
  EXPECT_EQ(summary("moved"), "0 done, 3 skipped, 0 failed");
  EXPECT_THAT(run({"status", "out"}).out,
              AllOf(HasSubstr("3 done, 0 failed"), HasSubstr("\n0 unfinished")));
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

}  // namespace
}  // namespace eckart::test
