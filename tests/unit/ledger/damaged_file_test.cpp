#include "ledger/damaged_file.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "ledger/database.hpp"
#include "tests/support/temp_folder.hpp"

namespace eckart::ledger {
namespace {

namespace fs = std::filesystem;

class DamagedFileTest : public ::testing::Test {
 protected:
  void SetUp() override { std::ofstream(file()) << "x"; }
  fs::path file(const std::string& suffix = {}) const {
    return folder_.path() / ("ledger.db" + suffix);
  }

 private:
  const test::TempFolder folder_;
};

TEST_F(DamagedFileTest, gets_the_first_free_number) {
  std::ofstream(file(".damaged-1")) << "older";
  const FileId id = file_id_of(file());
  EXPECT_EQ(rename_damaged_file(file(), "why"), file(".damaged-2"));
  EXPECT_EQ(file_id_of(file(".damaged-2")), id);
  EXPECT_EQ(file_id_of(file()), FileId());
}

TEST_F(DamagedFileTest, loses_its_journals_but_no_other_file) {
  std::ofstream(file("-wal")) << "journal";
  fs::create_directory(file("-journal"));
  fs::create_symlink("notes", file("-shm"));
  std::ofstream(file("-notes")) << "notes";
  rename_damaged_file(file(), "why");
  EXPECT_FALSE(fs::exists(file("-wal")));
  EXPECT_TRUE(fs::exists(file("-journal")));
  EXPECT_TRUE(fs::is_symlink(file("-shm")));
  EXPECT_TRUE(fs::exists(file("-notes")));
}

TEST_F(DamagedFileTest, is_found_by_its_identity) {
  const FileId id = file_id_of(file());
  EXPECT_FALSE(was_renamed_as_damaged(file(), id));
  fs::copy(file(), file(".damaged-1"));
  EXPECT_FALSE(was_renamed_as_damaged(file(), id)) << "a copy is another file";
  rename_damaged_file(file(), "why");
  EXPECT_TRUE(was_renamed_as_damaged(file(), id));
}

TEST_F(DamagedFileTest, is_reported_if_it_cannot_be_renamed) {
  fs::remove(file());
  EXPECT_THROW(rename_damaged_file(file(), "why"), DatabaseError);
}

}  // namespace
}  // namespace eckart::ledger
