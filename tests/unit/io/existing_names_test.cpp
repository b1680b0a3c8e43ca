#include "io/existing_names.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temp_folder.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;

TEST(ExistingNames, contains_what_was_there_at_the_first_look) {
  const test::TempFolder folder;
  const auto make = [&](const char* name) { std::ofstream(folder.path() / name) << "x"; };
  make("a");
  fs::create_directory(folder.path() / "folder");
  fs::create_symlink("nowhere", folder.path() / "link");
  ExistingNames names;
  for (const char* name : {"a", "folder", "link"})
    EXPECT_TRUE(names.may_contain(folder.path() / name)) << name;
  EXPECT_FALSE(names.may_contain(folder.path() / "b"));
  make("b");
  EXPECT_FALSE(names.may_contain(folder.path() / "b"));
  fs::remove(folder.path() / "a");
  EXPECT_TRUE(names.may_contain(folder.path() / "a"));
  EXPECT_FALSE(names.may_contain(folder.path() / "folder" / "a")) << "another folder";
}

TEST(ExistingNames, contains_nothing_in_a_missing_folder_and_anything_in_an_unreadable_one) {
  const test::TempFolder folder;
  std::ofstream(folder.path() / "file") << "x";
  ExistingNames names;
  EXPECT_FALSE(names.may_contain(folder.path() / "none" / "a"));
  EXPECT_TRUE(names.may_contain(folder.path() / "file" / "a"));
}

}  // namespace
}  // namespace eckart::io
