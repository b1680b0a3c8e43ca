#include "io/rename_no_replace.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

#include "tests/support/temp_folder.hpp"
#include "tests/unit/io/intercepted_calls.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;

class RenameNoReplaceTest : public testing::Test {
 protected:
  RenameNoReplaceTest() { std::ofstream(from_) << "new"; }
  ~RenameNoReplaceTest() override { test::on_rename = test::on_unlink = {}; }

  const test::TempFolder folder_;
  const fs::path from_ = folder_.path() / "from", to_ = folder_.path() / "to";
};

TEST_F(RenameNoReplaceTest, replaces_nothing_with_and_without_the_flag) {
  for (const int error : {0, EINVAL}) {  // EINVAL: as NFS, CephFS and Lustre answer
    test::on_rename = [error](const char*) { return error; };
    EXPECT_TRUE(rename_no_replace(from_, to_));
    EXPECT_FALSE(fs::exists(from_));
    std::ofstream(from_) << "newer";
    EXPECT_FALSE(rename_no_replace(from_, to_));
    EXPECT_EQ(errno, EEXIST);
    EXPECT_EQ(fs::file_size(to_), 3u);
    fs::remove(to_);
    std::ofstream(from_) << "new";
  }
}

/// The client has sent the request twice, because the first answer was lost.
TEST_F(RenameNoReplaceTest, keeps_the_target_if_the_old_name_is_gone_already) {
  test::on_rename = [](const char*) { return EINVAL; };
  test::on_unlink = [](const char* name) {
    fs::remove(name);
    return ENOENT;
  };
  EXPECT_TRUE(rename_no_replace(from_, to_));
  EXPECT_TRUE(fs::exists(to_));
}

}  // namespace
}  // namespace eckart::io
