#include "io/remove_folder.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/temp_folder.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;

class RemoveFolderTest : public ::testing::Test {
 protected:
  void write_files(int count) {
    fs::create_directories(folder_ / "a/b/empty");
    for (int i = 0; i < count; ++i)
      std::ofstream(folder_ / (i % 2 == 0 ? "a" : "a/b") / std::to_string(i)) << i;
  }
  const test::TempFolder parent_;
  const fs::path folder_ = parent_.path() / "folder";
};

TEST_F(RemoveFolderTest, removes_folders_with_their_files_on_any_number_of_threads) {
  for (const int max_threads : {1, 3, 16}) {
    write_files(1000);
    remove_folder(folder_, max_threads);
    EXPECT_FALSE(fs::exists(folder_)) << max_threads;
    EXPECT_TRUE(fs::exists(parent_.path()));
  }
}

TEST_F(RemoveFolderTest, accepts_a_folder_that_is_empty_or_missing) {
  write_files(0);
  remove_folder(folder_, 2);
  EXPECT_FALSE(fs::exists(folder_));
  remove_folder(folder_, 2);
}

TEST_F(RemoveFolderTest, does_not_follow_links) {
  write_files(1);
  fs::create_directory(parent_.path() / "other");
  std::ofstream(parent_.path() / "other/file") << "x";
  fs::create_directory_symlink(parent_.path() / "other", folder_ / "link");
  remove_folder(folder_, 2);
  EXPECT_FALSE(fs::exists(folder_));
  EXPECT_TRUE(fs::exists(parent_.path() / "other/file"));
}

}  // namespace
}  // namespace eckart::io
