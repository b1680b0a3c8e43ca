#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "core/error.hpp"
#include "ledger/ledger.hpp"
#include "tests/unit/ledger/ledger_fixture.hpp"

namespace eckart::ledger {
namespace {

using ::testing::HasSubstr;

TEST_F(LedgerTest, has_no_ledger_in_an_empty_file) {
  std::filesystem::create_directories(file().parent_path());
  std::ofstream(file()).close();  // the disk was full when a run began
  ASSERT_TRUE(std::filesystem::exists(file()));
  EXPECT_EQ(Ledger::open_read_only(file()), nullptr);
}

/// A mistyped ledger name must not cost a file.
TEST_F(LedgerTest, rejects_files_of_other_programs) {
  const auto other_file = file().parent_path().parent_path() / "notes";
  const auto expect_refused = [&] {
    EXPECT_THROW(Ledger ledger(other_file), FatalError);
    EXPECT_THROW(Ledger::open_read_only(other_file), FatalError);
    EXPECT_FALSE(std::filesystem::exists(other_file.native() + ".damaged-1"));
  };
  std::ofstream(other_file) << "x";
  expect_refused();
  std::filesystem::remove(other_file);
  const std::string sql = "PRAGMA user_version = 2; CREATE TABLE output (a); SELECT 1";
  ASSERT_EQ(
      std::system(("sqlite3 '" + other_file.string() + "' '" + sql + "' > /dev/null").c_str()), 0);
  expect_refused();
  std::filesystem::remove(other_file);
  Ledger(other_file).record({{kDone}, {}, {}});
  EXPECT_TRUE(Ledger(other_file).find(kDone.output));
}

/// SQLite would wait for the pipe, and write to the target of the link.
TEST_F(LedgerTest, is_not_opened_beside_a_pipe_or_a_link_in_the_place_of_a_journal) {
  Ledger(file()).record({{kDone}, {}, {}});
  std::ofstream(file().parent_path() / "foreign") << "theirs";
  for (const char* suffix : {"-journal", "-wal", "-shm"}) {
    SCOPED_TRACE(suffix);
    const std::filesystem::path companion = file().native() + suffix;
    ASSERT_EQ(::mkfifo(companion.c_str(), 0600), 0);
    EXPECT_THROW(Ledger ledger(file()), FatalError);
    EXPECT_THROW(Ledger::open_read_only(file()), FatalError);
    std::filesystem::remove(companion);
    std::filesystem::create_symlink("foreign", companion);
    EXPECT_THROW(Ledger ledger(file()), FatalError);
    std::filesystem::remove(companion);
  }
  EXPECT_EQ(std::filesystem::file_size(file().parent_path() / "foreign"), 6u);
  EXPECT_NO_THROW(Ledger ledger(file()));
}

TEST_F(LedgerTest, reports_a_file_removed_while_open) {
  Ledger ledger(file());
  EXPECT_NO_THROW(ledger.check_not_replaced());
  std::filesystem::remove(file());
  EXPECT_THROW(ledger.check_not_replaced(), EnvironmentError);
}

TEST_F(LedgerTest, reports_why_it_cannot_be_created) {
  try {
    Ledger ledger("/proc/none/ledger.db");
    FAIL();
  } catch (const FatalError& error) {
    EXPECT_EQ(error.code(), ExitCode::cannot_create);
    EXPECT_THAT(error.what(), HasSubstr("/proc/none/ledger.db"));
  }
}

TEST_F(LedgerTest, reports_why_its_path_cannot_be_looked_up) {
  const auto error_code = [](const std::filesystem::path& path) {
    try {
      Ledger ledger(path);
      ADD_FAILURE() << "was opened";
    } catch (const FatalError& error) {
      return error.code();
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
    return ExitCode::internal;
  };
  const std::string long_name(300, 'x');
  std::filesystem::create_directories(file().parent_path());
  EXPECT_EQ(error_code(file().parent_path() / long_name), ExitCode::cannot_create);
  std::filesystem::permissions(file().parent_path().parent_path(), std::filesystem::perms::all);
  std::filesystem::permissions(file().parent_path(), std::filesystem::perms::none);
  const bool is_unprivileged = ::geteuid() != 0 || ::seteuid(65534) == 0;
  if (is_unprivileged) {
    EXPECT_EQ(error_code(file()), ExitCode::no_permission);
    try {
      Ledger::open_read_only(file());
      ADD_FAILURE() << "it counts as none";
    } catch (const FatalError& error) {
      EXPECT_EQ(error.code(), ExitCode::no_permission);
    }
  }
  ASSERT_EQ(::seteuid(::getuid()), 0);
  std::filesystem::permissions(file().parent_path(), std::filesystem::perms::owner_all);
}

TEST_F(LedgerTest, treats_special_names_of_sqlite_as_files) {
  const auto current = std::filesystem::current_path();
  std::filesystem::create_directories(file().parent_path());
  std::filesystem::current_path(file().parent_path());
  for (const char* name : {":memory:", "file:y.db", "file:z.db?mode=memory", "file::memory:"}) {
    SCOPED_TRACE(name);
    Ledger(name).record({{kDone}, {}, {}});
    EXPECT_TRUE(std::filesystem::exists(name));
    EXPECT_TRUE(Ledger(name).find(kDone.output));
    const auto reader = Ledger::open_read_only(name);
    EXPECT_TRUE(reader && reader->find(kDone.output));
  }
  std::filesystem::current_path(current);
}

}  // namespace
}  // namespace eckart::ledger
