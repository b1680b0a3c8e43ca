#include "ledger/ledger_errors.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cerrno>
#include <string>

#include "core/error.hpp"

namespace eckart::ledger {
namespace {

/// Returns what is thrown: "fatal CODE", "disk full" or "environment".
std::string thrown_for(int code, int system_errno) {
  const std::string begin = "ledger out/ledger.db: why";
  try {
    throw_ledger_error("out/ledger.db", {code, "why", system_errno});
  } catch (const FatalError& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with(begin)) << error.what();
    return "fatal " + std::to_string(int(error.code()));
  } catch (const EnvironmentError& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with(begin)) << error.what();
    return error.remedy() == EnvironmentError::Remedy::free_disk_space ? "disk full"
                                                                       : "environment";
  }
}

TEST(LedgerError, depends_on_the_codes_of_sqlite_and_of_the_system) {
  const auto fatal = [](ExitCode code) { return "fatal " + std::to_string(int(code)); };
  EXPECT_EQ(thrown_for(SQLITE_FULL, 0), "disk full");
  EXPECT_EQ(thrown_for(SQLITE_CANTOPEN, ENOSPC), "disk full");
  EXPECT_EQ(thrown_for(SQLITE_IOERR_WRITE, EDQUOT), "disk full");
  EXPECT_EQ(thrown_for(SQLITE_BUSY, 0), fatal(ExitCode::temporary));
  EXPECT_EQ(thrown_for(SQLITE_BUSY_RECOVERY, 0), fatal(ExitCode::temporary));
  EXPECT_EQ(thrown_for(SQLITE_READONLY, 0), fatal(ExitCode::no_permission));
  EXPECT_EQ(thrown_for(SQLITE_CANTOPEN, EACCES), fatal(ExitCode::no_permission));
  EXPECT_EQ(thrown_for(SQLITE_CANTOPEN, EPERM), fatal(ExitCode::no_permission));
  EXPECT_EQ(thrown_for(SQLITE_IOERR_READ, 0), "environment");
  EXPECT_EQ(thrown_for(SQLITE_NOMEM, 0), "environment");
  EXPECT_EQ(thrown_for(SQLITE_CANTOPEN, EIO), "environment");
  EXPECT_EQ(thrown_for(SQLITE_CANTOPEN, ENOENT), fatal(ExitCode::cannot_create));
}

TEST(LedgerError, names_both_versions_of_a_newer_ledger) {
  try {
    throw_newer_schema("out/ledger.db", {.version = 77});
  } catch (const FatalError& error) {
    EXPECT_EQ(error.code(), ExitCode::configuration);
    EXPECT_EQ(std::string(error.what()),
              "ledger out/ledger.db was written by a newer eckart (version 77 of the schema; this "
              "program supports " +
                  std::to_string(kSchemaVersion) +
                  "); it was not changed. Use the newer eckart or another ledger");
  }
}

}  // namespace
}  // namespace eckart::ledger
