#include <gmock/gmock.h>

#include <fstream>

#include "core/error.hpp"
#include "ledger/ledger.hpp"
#include "tests/unit/ledger/ledger_fixture.hpp"

namespace eckart::ledger {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(LedgerTest, renames_a_damaged_file) {
  std::filesystem::create_directories(file().parent_path());
  for (int number = 1; number <= 2; ++number) {
    std::ofstream(file()) << "no database, but long enough to be read as if it might be one: " +
                                 std::string(4096, 'x');
    Ledger ledger = open_with_warnings();
    const std::string damaged_name = "ledger.db.damaged-" + std::to_string(number);
    EXPECT_THAT(warnings_, HasSubstr(damaged_name));
    EXPECT_TRUE(std::filesystem::exists(file().parent_path() / damaged_name));
    ledger.record({{kDone}, {}, {}});
    EXPECT_TRUE(ledger.find(kDone.output));
  }
}

/// The ledger has thousands of rows, so that damage behind the first page is found only when a row
/// there is read.
class LedgerWithCorruptPageTest : public LedgerTest, public ::testing::WithParamInterface<int> {
 protected:
  static std::string output_name(int number) { return "deep/" + std::to_string(number) + ".png"; }
  void SetUp() override {
    Ledger ledger(file());
    ledger.record_request({"rank: 3", {"/in"}, ""});
    LedgerChanges changes;
    for (int i = 0; i < kRows; ++i) {
      changes.done.push_back(kDone);
      changes.done.back().output = output_name(i);
    }
    ledger.record(changes);
  }
  void damage_page(int page) {
    constexpr std::streamoff kPage = 4096;
    std::fstream stream(file(), std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(page * kPage) << std::string(kPage, char(0xa5));
  }

  static constexpr int kRows = 4000;
};

TEST_P(LedgerWithCorruptPageTest, is_renamed_on_detection) {
  damage_page(GetParam());
  Ledger ledger = open_with_warnings();
  ledger.record_request({"rank: 5", {"/in"}, ""});
  int found = 0;
  for (int i = 0; i < kRows; ++i) found += ledger.find(output_name(i)).has_value();
  EXPECT_LT(found, kRows);
  EXPECT_THAT(warnings_, HasSubstr("renamed to ledger.db.damaged-1"));
  ledger.record({{kDone}, {kFailed}, {}});
  EXPECT_TRUE(ledger.find(kDone.output));
  EXPECT_EQ(ledger.count_inputs().failed, 1);
  EXPECT_EQ(ledger.request()->settings, "rank: 5");
  EXPECT_EQ(ledger.find(kDone.output)->run, ledger.run());
  EXPECT_THAT(warnings_, Not(HasSubstr("damaged-2")));
}

TEST_P(LedgerWithCorruptPageTest, is_reported_to_readers) {
  damage_page(GetParam());
  try {
    const auto ledger = Ledger::open_read_only(file());
    for (int i = 0; i < kRows; ++i) ledger->find(output_name(i));
    FAIL();
  } catch (const FatalError& error) {
    EXPECT_EQ(error.code(), ExitCode::nothing_readable);
    EXPECT_THAT(error.what(), HasSubstr("The next run renames it"));
  }
}

// The tables' own pages of `version`, `output` and its index, and two pages of rows.
INSTANTIATE_TEST_SUITE_P(Page, LedgerWithCorruptPageTest, ::testing::Values(1, 5, 6, 20, 30));

TEST_F(LedgerTest, warns_about_an_empty_file) {
  std::filesystem::create_directories(file().parent_path());
  std::ofstream(file()) << "";
  open_with_warnings();
  EXPECT_THAT(warnings_, HasSubstr("was empty"));
}

TEST_F(LedgerTest, renames_the_damaged_file_not_its_link) {
  const auto link = file().parent_path().parent_path() / "link.db";
  { Ledger ledger(file()); }
  std::filesystem::create_symlink(file(), link);
  std::ofstream(file(), std::ios::in | std::ios::binary).seekp(100) << std::string(20000, 'x');
  Ledger(link).record({{kDone}, {}, {}});
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_TRUE(std::filesystem::exists(file().native() + ".damaged-1"));
  EXPECT_TRUE(Ledger(file()).find(kDone.output));
}

/// The output folder is on a slow disk and its ledger on a faster one.
TEST_F(LedgerTest, renames_a_damaged_file_behind_a_link_in_the_state_folder) {
  const auto target = file().parent_path().parent_path() / "fast.db";
  std::filesystem::create_directories(file().parent_path());
  std::filesystem::create_symlink(target, file());
  { Ledger ledger(file()); }
  std::ofstream(target, std::ios::in | std::ios::binary).seekp(100) << std::string(20000, 'x');
  EXPECT_THROW(Ledger::open_read_only(file()), FatalError);
  open_with_warnings().record({{kDone}, {}, {}});
  EXPECT_THAT(warnings_, HasSubstr("fast.db.damaged-1"));
  EXPECT_TRUE(std::filesystem::is_symlink(file()));
  EXPECT_TRUE(Ledger(file()).find(kDone.output));
}

/// Whoever may write to the state folder must not get another file replaced.
TEST_F(LedgerTest, refuses_a_foreign_file_behind_a_link_in_the_state_folder) {
  const auto target = file().parent_path().parent_path() / "notes.txt";
  std::filesystem::create_directories(file().parent_path());
  std::filesystem::create_symlink(target, file());
  for (const std::size_t bytes : {100, 5000}) {
    const std::string text(bytes, 'x');
    std::ofstream(target) << text;
    try {
      Ledger ledger(file());
      ADD_FAILURE() << "it was opened";
    } catch (const FatalError& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
    }
    std::string kept;
    std::getline(std::ifstream(target), kept);
    EXPECT_EQ(kept, text);
    EXPECT_FALSE(std::filesystem::exists(target.native() + ".damaged-1"));
  }
}

}  // namespace
}  // namespace eckart::ledger
