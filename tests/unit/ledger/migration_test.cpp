// Ledgers of older versions, created with the statements of the programs that wrote them, and
// ledgers of newer versions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <fstream>
#include <iterator>

#include "core/error.hpp"
#include "ledger/ledger.hpp"
#include "tests/support/temp_folder.hpp"

namespace eckart::ledger {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class LedgerMigrationTest : public ::testing::Test {
 protected:
  fs::path out() const { return folder_.path() / "out"; }
  fs::path own_file() const { return out() / ".eckart" / "ledger.db"; }
  fs::path other_file() const { return folder_.path() / "shared" / "shared.db"; }
  /// Runs statements on a file that may be new; "{OUT}" is the output folder.
  void execute(const fs::path& file, std::string sql) const {
    for (std::size_t at; (at = sql.find("{OUT}")) != std::string::npos;)
      sql.replace(at, 5, out().native());
    fs::create_directories(file.parent_path());
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(file.c_str(), &database), SQLITE_OK);
    char* message = nullptr;
    EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK)
        << message;
    sqlite3_close(database);
  }
  static std::string content(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  Ledger open_ledger(const fs::path& file) {
    return Ledger(file, {.warn = [](const std::string& text) { ADD_FAILURE() << text; }});
  }
  void expect_only_file(const fs::path& file) const {
    for (const auto& entry : fs::directory_iterator(file.parent_path()))
      EXPECT_EQ(entry.path(), file);
  }

 private:
  const test::TempFolder folder_;
};

/// Schema version 1.
constexpr const char* kVersion1 = R"(
PRAGMA journal_mode = WAL;
CREATE TABLE IF NOT EXISTS output (
  output BLOB PRIMARY KEY, input BLOB NOT NULL, settings INTEGER NOT NULL, part INTEGER NOT NULL,
  size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, inode INTEGER NOT NULL, done INTEGER NOT NULL,
  reason INTEGER NOT NULL, detail BLOB NOT NULL, bytes INTEGER NOT NULL) WITHOUT ROWID;
PRAGMA user_version = 1;
INSERT OR REPLACE INTO output VALUES (CAST('{OUT}/deep/a.png' AS BLOB), CAST('/in/deep/a.png' AS BLOB),
  -81985529216486896, 0, 123, 1700000000123456789, 42, 1, 0, x'', 456);
INSERT OR REPLACE INTO output VALUES (CAST('{OUT}/bad.png' AS BLOB), CAST('/in/bad.png' AS BLOB),
  7, 0, 1, 2, 3, 0, 5, CAST('ends early' AS BLOB), 0);
)";

/// Schema version 2 as its first programs wrote it, with a time in place of the run number.
constexpr const char* kVersion2WithTimes = R"(
PRAGMA journal_mode = WAL;
CREATE TABLE IF NOT EXISTS output (
  output BLOB PRIMARY KEY, input BLOB NOT NULL, settings INTEGER NOT NULL, part INTEGER NOT NULL,
  size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, inode INTEGER NOT NULL,
  bytes INTEGER NOT NULL, time_ns INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS failure (
  input BLOB PRIMARY KEY, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, inode INTEGER NOT NULL,
  reason TEXT NOT NULL, detail BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS suspect (
  input BLOB PRIMARY KEY, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, inode INTEGER NOT NULL,
  losses INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS request (what TEXT NOT NULL, value BLOB NOT NULL);
PRAGMA user_version = 2;
INSERT INTO output VALUES (CAST('deep/a.png' AS BLOB), CAST('/in/deep/a.png' AS BLOB),
  -81985529216486896, 0, 123, 1700000000123456789, 42, 456, 1763800000000000000);
)";

/// Schema version 2 as later programs wrote it.
constexpr const char* kVersion2 = R"(
PRAGMA journal_mode = WAL;
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS output (
  output BLOB PRIMARY KEY, input BLOB NOT NULL, settings INTEGER NOT NULL, part INTEGER NOT NULL,
  size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, inode INTEGER NOT NULL,
  bytes INTEGER NOT NULL, run INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS failure (
  input BLOB PRIMARY KEY, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, inode INTEGER NOT NULL,
  reason TEXT NOT NULL, detail BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS suspect (
  input BLOB PRIMARY KEY, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, inode INTEGER NOT NULL,
  losses INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS request (what TEXT NOT NULL, value BLOB NOT NULL);
PRAGMA application_id = 1164143457;
PRAGMA user_version = 2;
COMMIT;
INSERT INTO request VALUES ('run', CAST('4' AS BLOB));
INSERT INTO request VALUES ('settings', CAST('rank: "2"' AS BLOB));
INSERT INTO request VALUES ('input', CAST('/in' AS BLOB));
INSERT INTO request VALUES ('input', CAST('/in/single.jpg' AS BLOB));
INSERT INTO request VALUES ('input', CAST('/else/where/one.jpg' AS BLOB));
INSERT INTO output VALUES (CAST('deep/a.png' AS BLOB), CAST('/in/deep/a.png' AS BLOB),
  -81985529216486896, 0, 123, 1700000000123456789, 42, 456, 3);
INSERT INTO output VALUES (x'6465ff0a2e706e67', x'2f696e2f6465ff0a2e706e67', 1, 0, 1, 2, 3, 4, 4);
INSERT INTO output VALUES (CAST('one.k2.png' AS BLOB), CAST('/else/where/one.jpg' AS BLOB),
  1, 1, 1, 2, 3, 4, 4);
INSERT INTO output VALUES (CAST('single.png' AS BLOB), CAST('/in/single.jpg' AS BLOB),
  1, 0, 1, 2, 3, 4, 4);
INSERT INTO output VALUES (CAST('earlier.png' AS BLOB), CAST('/inside/earlier.png' AS BLOB),
  1, 0, -1, 2, 3, 4, 1);
INSERT INTO failure VALUES (CAST('/in/bad.png' AS BLOB), 1, 2, 3, 'corrupt',
  CAST('ends early' AS BLOB));
INSERT INTO suspect VALUES (CAST('/in/lost.png' AS BLOB), 4, 5, 6, 2);
)";

/// Schema version 3: publish intents are in the output table, marked by a negative size.
constexpr const char* kVersion3 = R"(
PRAGMA journal_mode = WAL;
BEGIN IMMEDIATE;
CREATE TABLE version (schema INTEGER NOT NULL);
CREATE TABLE root (id INTEGER PRIMARY KEY, path BLOB NOT NULL UNIQUE);
CREATE TABLE settings (hash INTEGER PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE output (
  output BLOB PRIMARY KEY, root INTEGER NOT NULL, input BLOB NOT NULL, settings INTEGER NOT NULL,
  part INTEGER NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, inode INTEGER NOT NULL,
  bytes INTEGER NOT NULL, output_mtime_ns INTEGER NOT NULL, run INTEGER NOT NULL,
  content BLOB, report BLOB) WITHOUT ROWID;
CREATE TABLE failure (
  input BLOB PRIMARY KEY, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, inode INTEGER NOT NULL,
  reason TEXT NOT NULL, detail BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE suspect (
  input BLOB PRIMARY KEY, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, inode INTEGER NOT NULL,
  losses INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE request (what TEXT NOT NULL, value BLOB NOT NULL);
PRAGMA application_id = 1164143457;
PRAGMA user_version = 3;
INSERT INTO version VALUES (3);
INSERT INTO root VALUES (1, CAST('/in/' AS BLOB));
INSERT INTO output VALUES (CAST('deep/a.png' AS BLOB), 1, CAST('deep/a.png' AS BLOB),
  -81985529216486896, 0, 123, 1700000000123456789, 42, 456, 0, 3, NULL, NULL);
INSERT INTO output VALUES (CAST('killed.png' AS BLOB), 1, CAST('killed.png' AS BLOB),
  7, 0, 1, 2, 3, -1, 5, 3, NULL, NULL);
INSERT INTO output VALUES (CAST('unknown.png' AS BLOB), 1, CAST('unknown.png' AS BLOB),
  7, 0, 1, 2, 3, -1, 0, 3, NULL, NULL);
COMMIT;
)";

/// Schema version 4: a row for each publish intent, and each report with its keys.
constexpr const char* kVersion4 = R"(
PRAGMA journal_mode = WAL;
BEGIN IMMEDIATE;
CREATE TABLE version (schema INTEGER NOT NULL);
CREATE TABLE root (id INTEGER PRIMARY KEY, path BLOB NOT NULL UNIQUE);
CREATE TABLE settings (hash INTEGER PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE output (
  output BLOB NOT NULL PRIMARY KEY, root INTEGER NOT NULL, input BLOB NOT NULL,
  settings INTEGER NOT NULL, part INTEGER NOT NULL, size INTEGER NOT NULL,
  mtime_ns INTEGER NOT NULL, inode INTEGER NOT NULL, bytes INTEGER NOT NULL,
  output_mtime_ns INTEGER NOT NULL, run INTEGER NOT NULL, content BLOB, report BLOB);
CREATE TABLE failure (
  input BLOB PRIMARY KEY, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, inode INTEGER NOT NULL,
  reason TEXT NOT NULL, detail BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE suspect (
  input BLOB PRIMARY KEY, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, inode INTEGER NOT NULL,
  losses INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE request (what TEXT NOT NULL, value BLOB NOT NULL);
CREATE TABLE publish_intent (
  output BLOB NOT NULL, root INTEGER NOT NULL, input BLOB NOT NULL,
  settings INTEGER NOT NULL, part INTEGER NOT NULL, size INTEGER NOT NULL,
  mtime_ns INTEGER NOT NULL, inode INTEGER NOT NULL, bytes INTEGER NOT NULL,
  output_mtime_ns INTEGER NOT NULL, run INTEGER NOT NULL, content BLOB, report BLOB,
  PRIMARY KEY (output, output_mtime_ns, bytes)) WITHOUT ROWID;
PRAGMA application_id = 1164143457;
PRAGMA user_version = 4;
INSERT INTO version VALUES (4);
INSERT INTO root VALUES (1, CAST('/in/' AS BLOB));
INSERT INTO output VALUES (CAST('deep/a.png' AS BLOB), 1, CAST('deep/a.png' AS BLOB),
  -81985529216486896, 0, 123, 1700000000123456789, 42, 456, 0, 3, NULL,
  CAST('{"psnr_db":30}' AS BLOB));
INSERT INTO publish_intent VALUES (CAST('killed.png' AS BLOB), 1, CAST('killed.png' AS BLOB),
  7, 0, 1, 2, 3, 123, 5, 3, NULL, NULL);
COMMIT;
)";

void expect_first_output(Ledger& ledger, std::size_t root_length) {
  const auto known = ledger.find("deep/a.png");
  ASSERT_TRUE(known);
  EXPECT_EQ(known->input, "/in/deep/a.png");
  EXPECT_EQ(known->root_length, root_length);
  EXPECT_EQ(known->settings, 0xfedcba9876543210);
  EXPECT_EQ(known->state, (files::FileState{123, 1700000000123456789, 42}));
  EXPECT_EQ(known->bytes, 456);
  EXPECT_EQ(known->output_mtime_ns, 0);
  EXPECT_EQ(known->content_hash, "");
}

void expect_takes_more(Ledger& ledger) {
  ledger.record_request({"", {"/in"}, "", {}});
  OutputEntry entry{
      .output = "new.png", .input = "/in/new.png", .settings = 1, .state = {}, .root_length = 4};
  ledger.record({{entry}, {}, {}});
  EXPECT_TRUE(ledger.find("new.png"));
}

TEST_F(LedgerMigrationTest, keeps_outputs_below_their_folder_from_version_1) {
  execute(own_file(), kVersion1);
  Ledger ledger = open_ledger(own_file());
  expect_first_output(ledger, 1);
  EXPECT_EQ(ledger.count_inputs().done, 1);
  EXPECT_EQ(ledger.count_inputs().failed, 0) << "it is tried again anyway";
  EXPECT_FALSE(ledger.find("bad.png"));
  expect_takes_more(ledger);
}

TEST_F(LedgerMigrationTest, keeps_outputs_of_an_own_ledger_behind_a_link_from_version_1) {
  execute(other_file(), kVersion1);
  fs::create_directories(own_file().parent_path());
  fs::create_symlink(other_file(), own_file());
  Ledger ledger = open_ledger(own_file());
  expect_first_output(ledger, 1);
}

TEST_F(LedgerMigrationTest, keeps_outputs_of_a_shared_ledger_from_version_1) {
  execute(other_file(), kVersion1);
  Ledger ledger = open_ledger(other_file());
  EXPECT_TRUE(ledger.find((out() / "deep/a.png").native().substr(1)));
}

TEST_F(LedgerMigrationTest, ignores_the_timestamp_of_the_first_version_2) {
  for (const fs::path& file : {own_file(), other_file()}) {
    execute(file, kVersion2WithTimes);
    Ledger ledger = open_ledger(file);
    expect_first_output(ledger, 1);
    EXPECT_EQ(ledger.find("deep/a.png")->run, 0);
    expect_takes_more(ledger);
  }
}

TEST_F(LedgerMigrationTest, finds_the_roots_of_inputs_from_version_2) {
  execute(own_file(), kVersion2);
  Ledger ledger = open_ledger(own_file());
  expect_first_output(ledger, std::string("/in/").size());
  EXPECT_EQ(ledger.find("deep/a.png")->run, 3);
  EXPECT_EQ(ledger.find("de\xff\n.png")->input, "/in/de\xff\n.png");
  EXPECT_EQ(ledger.find("one.k2.png")->root_length, std::string("/else/where/").size());
  EXPECT_EQ(ledger.find("one.k2.png")->output_index, 1);
  EXPECT_EQ(ledger.find("single.png")->root_length, std::string("/in/").size());
  EXPECT_EQ(ledger.find("earlier.png")->root_length, 1U) << "no run that is known had its root";
  EXPECT_EQ(ledger.find("earlier.png")->state.size, -1);
  EXPECT_EQ(ledger.run(), 4);
  EXPECT_EQ(ledger.request()->settings, "rank: \"2\"");
  EXPECT_EQ(ledger.request()->inputs.size(), 3U);
  EXPECT_EQ(ledger.count_inputs().done, 5);
  EXPECT_EQ(ledger.find_failure("/in/bad.png")->detail, "ends early");
  ASSERT_EQ(ledger.suspects().size(), 1U);
  EXPECT_EQ(ledger.suspects()[0].losses, 2);
  expect_takes_more(ledger);
}

TEST_F(LedgerMigrationTest, keeps_intents_of_unknown_size_from_version_3) {
  execute(own_file(), kVersion3);
  Ledger ledger = open_ledger(own_file());
  expect_first_output(ledger, std::string("/in/").size());
  EXPECT_EQ(ledger.find("deep/a.png")->run, 3);
  EXPECT_EQ(ledger.count_inputs().done, 1);
  EXPECT_FALSE(ledger.find("killed.png"));
  EXPECT_FALSE(ledger.find_intent({"killed.png", 123, 6})) << "of another file";
  EXPECT_FALSE(ledger.find_intent({"unknown.png", 123, 0}));
  const auto intent = ledger.find_intent({"killed.png", 123, 5});
  ASSERT_TRUE(intent);
  EXPECT_EQ(intent->input, "/in/killed.png");
  EXPECT_EQ(intent->settings, 7U);
  EXPECT_EQ(intent->bytes, 123);
  ledger.record({{*intent}, {}, {}});
  EXPECT_FALSE(ledger.find_intent({"killed.png", 123, 5}));
  EXPECT_EQ(ledger.find("killed.png")->bytes, 123);
  expect_takes_more(ledger);
}

TEST_F(LedgerMigrationTest, keeps_reports_and_intents_from_version_4) {
  execute(own_file(), kVersion4);
  const auto reader = Ledger::open_read_only(own_file());
  EXPECT_EQ(reader->find("deep/a.png")->report, R"({"psnr_db":30})");
  EXPECT_TRUE(reader->find_intent({"killed.png", 123, 5}));
  Ledger ledger = open_ledger(own_file());
  expect_first_output(ledger, std::string("/in/").size());
  EXPECT_EQ(ledger.find("deep/a.png")->report, R"({"psnr_db":30})");
  const auto intent = ledger.find_intent({"killed.png", 123, 5});
  ASSERT_TRUE(intent);
  EXPECT_EQ(intent->input, "/in/killed.png");
  ledger.record({{*intent}, {}, {}});
  EXPECT_FALSE(ledger.find_intent({"killed.png", 123, 5}));
  expect_takes_more(ledger);
}

TEST_F(LedgerMigrationTest, runs_once) {
  execute(own_file(), kVersion2);
  open_ledger(own_file()).remove_outputs([] { return std::vector<std::string>{"single.png"}; });
  Ledger again = open_ledger(own_file());
  EXPECT_FALSE(again.find("single.png"));
  expect_first_output(again, std::string("/in/").size());
}

TEST_F(LedgerMigrationTest, changes_nothing_in_a_ledger_that_is_only_read) {
  for (const char* version : {kVersion1, kVersion2WithTimes, kVersion2, kVersion3, kVersion4}) {
    fs::remove_all(out());
    execute(own_file(), version);
    const std::string before = content(own_file());
    {
      const auto ledger = Ledger::open_read_only(own_file());
      ASSERT_TRUE(ledger);
      EXPECT_EQ(ledger->find("deep/a.png")->bytes, 456);
    }
    EXPECT_TRUE(content(own_file()) == before);
  }
}

/// A file of another program, and a ledger of a newer version, at the path of a ledger.
class RejectedLedgerTest : public LedgerMigrationTest {
 protected:
  /// Returns the message of the error. Checks that no way to open the file changes anything.
  std::string open_error(const fs::path& file, ExitCode code) {
    std::string message;
    const std::string before = content(file);
    const auto expect_refused = [&](auto open) {
      try {
        open();
        ADD_FAILURE() << "was not refused";
      } catch (const FatalError& error) {
        EXPECT_EQ(error.code(), code);
        message = error.what();
      }
      EXPECT_TRUE(content(file) == before);
      expect_only_file(file);
    };
    expect_refused([&] { Ledger ledger(file); });
    expect_refused([&] { Ledger::open_read_only(file); });
    return message;
  }
};

TEST_F(RejectedLedgerTest, is_a_ledger_of_a_newer_version) {
  for (const fs::path& file : {own_file(), other_file()}) {
    { Ledger ledger = open_ledger(file); }
    execute(file,
            "PRAGMA user_version = 99; UPDATE version SET schema = 99; DROP TABLE output; "
            "CREATE TABLE output (of_the_future)");
    EXPECT_THAT(open_error(file, ExitCode::configuration),
                AllOf(HasSubstr(file.native()), HasSubstr("newer eckart (version 99")));
    fs::remove(file);
  }
}

TEST_F(RejectedLedgerTest, is_a_database_of_another_program) {
  const auto expect_refused = [&](const std::string& sql) {
    execute(other_file(), sql);
    EXPECT_THAT(open_error(other_file(), ExitCode::usage), HasSubstr("is not an eckart ledger"));
    fs::remove(other_file());
  };
  expect_refused("CREATE TABLE bookmarks (url TEXT)");
  expect_refused("PRAGMA journal_mode = WAL; CREATE TABLE bookmarks (url TEXT)");
  expect_refused("PRAGMA user_version = 2; CREATE TABLE output (a)");
  expect_refused("PRAGMA user_version = 3; CREATE TABLE output (output, settings)");
  expect_refused("PRAGMA user_version = 7");
  expect_refused("PRAGMA application_id = 7");
  expect_refused(std::string(kVersion2) + "; PRAGMA application_id = 7");
}

TEST_F(RejectedLedgerTest, is_a_file_that_is_no_database) {
  fs::create_directories(other_file().parent_path());
  for (const std::string& text :
       {std::string("x"), std::string(300, 'x'), std::string(5000, 'x')}) {
    std::ofstream(other_file()) << text;
    EXPECT_THAT(open_error(other_file(), ExitCode::usage), HasSubstr("is not an eckart ledger"));
  }
}

/// All files in a state folder belong to eckart, so the file was a ledger.
TEST_F(LedgerMigrationTest, replaces_its_own_ledger_with_a_foreign_id) {
  execute(own_file(), "CREATE TABLE bookmarks (url TEXT)");
  const std::string before = content(own_file());
  std::string warning;
  Ledger ledger(own_file(), {.warn = [&](const std::string& text) { warning += text; }});
  EXPECT_THAT(warning, HasSubstr("ledger.db.damaged-1"));
  EXPECT_TRUE(content(own_file().native() + ".damaged-1") == before);
}

TEST_F(LedgerMigrationTest, replaces_a_ledger_with_a_damaged_version) {
  for (const int version : {99, 2, 1, 0, -1}) {
    fs::remove_all(out());
    { expect_takes_more(*std::make_unique<Ledger>(own_file())); }
    execute(own_file(), "PRAGMA user_version = " + std::to_string(version));
    std::string warning;
    Ledger ledger(own_file(), {.warn = [&](const std::string& text) { warning += text; }});
    EXPECT_THAT(warning, HasSubstr("ledger.db.damaged-1")) << version;
    expect_takes_more(ledger);
  }
}

}  // namespace
}  // namespace eckart::ledger
