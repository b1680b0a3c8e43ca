#include "io/scratch_folder.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/error.hpp"
#include "tests/support/temp_folder.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;
using ::testing::StartsWith;

TEST(ScratchFolder, is_removed_with_its_files_but_not_its_parent) {
  const test::TempFolder folder;
  fs::path path;
  {
    const ScratchFolder scratch(folder.path() / "new/parent", "a");
    path = scratch.path();
    EXPECT_TRUE(path.is_absolute());
    EXPECT_EQ(path.parent_path(), folder.path() / "new/parent");
    EXPECT_THAT(path.filename().native(), StartsWith("a-"));
    EXPECT_NE(ScratchFolder(folder.path(), "a").path(), ScratchFolder(folder.path(), "a").path());
    fs::create_directory(path / "sub");
    std::ofstream(path / "sub/file") << "x";
  }
  EXPECT_FALSE(fs::exists(path));
  EXPECT_TRUE(fs::exists(path.parent_path()));
}

TEST(ScratchFolder, needs_a_folder) {
  const test::TempFolder folder;
  std::ofstream(folder.path() / "file") << "x";
  try {
    const ScratchFolder scratch(folder.path() / "file", "a");
    FAIL();
  } catch (const FatalError& error) {
    EXPECT_EQ(error.code(), ExitCode::cannot_create);
  }
}

TEST(ScratchFolder, removes_those_of_killed_processes_only) {
  const test::TempFolder folder;
  const ScratchFolder running(folder.path(), "a");
  const std::string own = running.path().filename().native();
  const std::string host = own.substr(1, own.find_last_of('-') - 1);  // with a hyphen before it
  const auto make = [&](const std::string& name, const char* file) {
    fs::create_directory(folder.path() / name);
    if (*file) std::ofstream(folder.path() / name / file) << "";
    return folder.path() / name;
  };
  const fs::path killed = make("a" + host + "-killed", ".lock"),
                 without = make("a" + host + "-without", ""), old = make("a" + host + "-old", ""),
                 of_other_host = make("a-other-killed", ".lock"),
                 of_other_program = make("b" + host + "-killed", ".lock");
  fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(2));
  fs::create_directory_symlink(of_other_program, folder.path() / ("a" + host + "-link"));
  const ScratchFolder scratch(folder.path(), "a");
  EXPECT_FALSE(fs::exists(killed));
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(running.path() / ".lock"));
  EXPECT_TRUE(fs::exists(without)) << "it may be one that is being made";
  EXPECT_TRUE(fs::exists(of_other_host)) << "locks may hold on one host only";
  EXPECT_TRUE(fs::exists(of_other_program / ".lock"));
}

}  // namespace
}  // namespace eckart::io
