#include "app/ledger_choice.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "core/error.hpp"
#include "tests/support/temp_folder.hpp"

namespace eckart::app {
namespace {

namespace fs = std::filesystem;
using settings::FileChoice;

TEST(LedgerChoice, is_in_the_state_folder_unless_it_is_named) {
  EXPECT_EQ(ledger_file("out", {}), "out/.eckart/ledger.db");
  EXPECT_EQ(ledger_file("out", FileChoice::none()), "");
  EXPECT_EQ(ledger_file("out", FileChoice::at("/var/out.db")), "/var/out.db");
  EXPECT_TRUE(is_own_ledger("out", {}));
  EXPECT_FALSE(is_own_ledger("out", FileChoice::none()));
  EXPECT_FALSE(is_own_ledger("out", FileChoice::at("/var/out.db")));
}

TEST(LedgerChoice, is_that_of_the_folder_by_every_path_to_it) {
  const test::TempFolder folder;
  fs::create_directories(folder.path() / "out/.eckart");
  fs::create_directory_symlink("out", folder.path() / "link");
  const fs::path out = folder.path() / "out";
  for (const fs::path& path : {out / ".eckart/ledger.db", out / "../out/.eckart/./ledger.db",
                               folder.path() / "link/.eckart/ledger.db"}) {
    EXPECT_TRUE(is_own_ledger(out, FileChoice::at(path))) << path;
    EXPECT_EQ(ledger_file(out, FileChoice::at(path)), path);
  }
  EXPECT_FALSE(is_own_ledger(out, FileChoice::at(out / "ledger.db")));
}

TEST(LedgerChoice, is_no_file_of_the_state_folder_of_another_folder) {
  const test::TempFolder folder;
  const fs::path other = folder.path() / "other/.eckart/ledger.db";
  try {
    ledger_file(folder.path() / "out", FileChoice::at(other));
    FAIL();
  } catch (const FatalError& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_EQ(error.what(), "ledger " + other.native() + " belongs to " +
                                (folder.path() / "other").native() +
                                "; use a ledger file outside any folder named .eckart");
  }
}

}  // namespace
}  // namespace eckart::app
