#include "io/stale_temporaries.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <fstream>

#include "core/error.hpp"
#include "io/folder_lock.hpp"
#include "io/temporary_file.hpp"
#include "tests/support/temp_folder.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;
using test::TempFolder;

class StaleTemporariesTest : public ::testing::Test {
 protected:
  fs::path make(const fs::path& name) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << "x";
    return root_ / name;
  }

  const std::string stale_ = ".eckart-0123456789abcdef-7.tmp";
  const TempFolder folder_;
  const fs::path root_ = folder_.path() / "out";
};

TEST_F(StaleTemporariesTest, removes_files_from_the_root_and_from_folders_when_named) {
  const fs::path in_root = make(stale_), in_folder = make("a/b" / fs::path(stale_));
  StaleTemporaries stale(root_);
  EXPECT_FALSE(fs::exists(in_root));
  EXPECT_TRUE(fs::exists(in_folder));
  stale.remove_beside(root_ / "a" / "x.png");
  EXPECT_TRUE(fs::exists(in_folder));
  stale.remove_beside(root_ / "a" / "b" / "x.png");
  EXPECT_FALSE(fs::exists(in_folder));
  stale.remove_beside(root_ / "none" / "x.png");
}

TEST_F(StaleTemporariesTest, finds_files_for_any_spelling_of_the_root) {
  for (const fs::path& root : {root_ / "", folder_.path() / "." / "out"}) {
    const fs::path in_root = make(stale_), in_folder = make("a" / fs::path(stale_));
    StaleTemporaries(root).remove_beside(root / "a" / "x.png");
    EXPECT_FALSE(fs::exists(in_root)) << root;
    EXPECT_FALSE(fs::exists(in_folder)) << root;
  }
}

TEST_F(StaleTemporariesTest, keeps_files_of_this_process_and_other_files) {
  fs::create_directories(root_);
  const TemporaryFile mine(root_);
  const std::vector<fs::path> others{make(".eckart-0123456789abcdef-7.png"), make("a.tmp"),
                                     make(".eckart/lock")};
  const StaleTemporaries stale(root_);
  EXPECT_EQ(std::distance(fs::directory_iterator(root_), {}), 4);
}

TEST_F(StaleTemporariesTest, keeps_files_in_nested_output_folders) {
  make("a/.eckart/lock");
  const fs::path of_another = make("a/b" / fs::path(stale_));
  StaleTemporaries(root_).remove_beside(root_ / "a" / "b" / "x.png");
  EXPECT_TRUE(fs::exists(of_another));
}

/// Anyone may write to a folder above, such as /tmp.
TEST_F(StaleTemporariesTest, waits_for_no_pipe_above) {
  fs::create_directories(root_ / ".eckart");
  ASSERT_EQ(::mkfifo((root_ / ".eckart/lock").c_str(), 0666), 0);
  EXPECT_FALSE(is_locked(root_));
  const fs::path stale = make("a" / fs::path(stale_));
  const StaleTemporaries temporaries(root_ / "a");
  EXPECT_FALSE(fs::exists(stale));
  EXPECT_THROW(const FolderLock lock(root_), FatalError);
}

TEST_F(StaleTemporariesTest, follows_no_link_of_a_lock) {
  const auto error = [&] {
    try {
      const FolderLock lock(root_);
      return std::string();
    } catch (const FatalError& failure) {
      return std::string(failure.what());
    }
  };
  const fs::path foreign = make("foreign/lock");
  std::ofstream(foreign) << "theirs";
  for (const bool is_folder : {false, true}) {
    fs::remove_all(root_ / ".eckart");
    if (is_folder) {
      fs::create_directory_symlink(foreign.parent_path(), root_ / ".eckart");
    } else {
      fs::create_directory(root_ / ".eckart");
      fs::create_symlink(foreign, root_ / ".eckart/lock");
    }
    EXPECT_THAT(error(), testing::HasSubstr("symbolic link"));
    EXPECT_FALSE(is_locked(root_));
    EXPECT_EQ(fs::file_size(foreign), 6u);
  }
}

TEST_F(StaleTemporariesTest, changes_no_foreign_file_with_the_name_of_the_lock) {
  fs::create_directories(root_ / ".eckart");
  const fs::path file = root_ / ".eckart/lock";
  for (const char* text : {"theirs", "1234567890123", "12 "}) {
    std::ofstream(file) << text;
    EXPECT_THROW(const FolderLock lock(root_), FatalError);
    std::ifstream read(file);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(read), {}), text);
  }
  std::ofstream(file) << "4711";  // of an earlier process
  EXPECT_TRUE(FolderLock(root_).is_in_place());
}

TEST_F(StaleTemporariesTest, keeps_files_while_a_run_writes_to_an_ancestor) {
  const fs::path of_another = make("a" / fs::path(stale_));
  {
    const FolderLock lock(root_);
    EXPECT_TRUE(is_locked(root_));
    const StaleTemporaries stale(root_ / "a");
    EXPECT_TRUE(fs::exists(of_another));
  }
  EXPECT_FALSE(is_locked(root_));
  const StaleTemporaries stale(root_ / "a");
  EXPECT_FALSE(fs::exists(of_another));
}

}  // namespace
}  // namespace eckart::io
