#include "app/ledger_outputs.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "tests/support/temp_folder.hpp"

namespace eckart::app {
namespace {

namespace fs = std::filesystem;

TEST(ContainedFile, counts_as_missing_behind_a_link_or_outside_the_folder) {
  const test::TempFolder temporary;
  const auto at = [&](const char* name) { return temporary.path() / name; };
  for (const char* name : {"out/real/a.png", "elsewhere/a.png"}) {
    fs::create_directories(at(name).parent_path());
    std::ofstream(at(name)) << "x";
  }
  fs::create_directory_symlink(at("elsewhere"), at("out/link"));
  const files::FileDescriptor folder = open_folder(at("out"));
  for (const char* path : {"link/a.png", "../elsewhere/a.png"}) {
    const ContainedFile file(folder, path);
    EXPECT_EQ(file.status().type, fs::file_type::not_found) << path;
    EXPECT_FALSE(file.remove()) << path;
  }
  EXPECT_TRUE(fs::exists(at("elsewhere/a.png")));
  EXPECT_TRUE(ContainedFile(folder, "real/a.png").remove());
}

TEST(ContainedFile, matches_a_record_of_its_size_and_time) {
  const test::TempFolder folder_path;
  fs::create_directories(folder_path.path() / "sub/folder.png");
  std::ofstream(folder_path.path() / "sub/a.png") << "12345";
  fs::create_symlink("a.png", folder_path.path() / "sub/link.png");
  const files::FileDescriptor folder = open_folder(folder_path.path());
  const ContainedFile file(folder, "sub/a.png");
  const std::int64_t mtime_ns = file.status().mtime_ns;
  EXPECT_EQ(file.status().bytes, 5);
  EXPECT_TRUE(file.matches_record(5, mtime_ns));
  EXPECT_TRUE(file.matches_record(5, 0)) << "the time is unknown";
  EXPECT_FALSE(file.matches_record(4, mtime_ns));
  EXPECT_FALSE(file.matches_record(5, mtime_ns + 1));
  EXPECT_FALSE(file.is_missing());
  for (const char* name : {"sub/none.png", "none/a.png"}) {
    EXPECT_TRUE(ContainedFile(folder, name).is_missing()) << name;
    EXPECT_FALSE(ContainedFile(folder, name).matches_record(0, 0)) << name;
    EXPECT_FALSE(ContainedFile(folder, name).remove()) << name;
  }
  for (const char* name : {"sub/link.png", "sub/folder.png"}) {
    EXPECT_FALSE(ContainedFile(folder, name).is_missing()) << name;
    EXPECT_EQ(ContainedFile(folder, name).status().type, fs::file_type::not_found) << name;
  }
  for (const char* name : {"/etc/passwd", "", "sub/..", "sub/.", "sub/"}) {
    EXPECT_FALSE(ContainedFile(folder, name).is_missing()) << name;
    EXPECT_FALSE(ContainedFile(folder, name).remove()) << name;
  }
}

/// In the ledger, 0 means that the time is unknown.
TEST(ContainedFile, matches_a_record_of_a_file_from_the_start_of_1970) {
  const test::TempFolder folder_path;
  const fs::path path = folder_path.path() / "a.png";
  std::ofstream(path) << "12345";
  constexpr timespec kTimes[2] = {};
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), kTimes, 0), 0);
  const files::FileDescriptor folder = open_folder(folder_path.path());
  const ContainedFile file(folder, "a.png");
  EXPECT_EQ(file.status().mtime_ns, 1);
  EXPECT_TRUE(file.matches_record(5, 1));
  std::ofstream(path) << "54321";
  EXPECT_FALSE(file.matches_record(5, 1));
}

}  // namespace
}  // namespace eckart::app
