#include "io/folder_lock.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "core/error.hpp"
#include "files/file_descriptor.hpp"
#include "tests/support/temp_folder.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class FolderLockTest : public ::testing::Test {
 protected:
  FolderLockTest() { fs::create_directories(lock_.parent_path()); }
  /// Returns the exit code and the message of a second lock.
  std::pair<ExitCode, std::string> refusal() const {
    try {
      const FolderLock lock(root_);
      return {ExitCode::ok, ""};
    } catch (const FatalError& error) {
      return {error.code(), error.what()};
    }
  }
  std::string text() const {
    std::ifstream file(lock_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const test::TempFolder folder_;
  const fs::path root_ = folder_.path() / "out", lock_ = root_ / ".eckart" / "lock";
};

TEST_F(FolderLockTest, names_the_process_that_holds_it) {
  std::ofstream(lock_) << "99999999999";  // of an earlier process
  {
    const FolderLock lock(root_);
    EXPECT_TRUE(lock.is_held());
    EXPECT_EQ(text(), std::to_string(::getpid()));
    EXPECT_TRUE(is_locked(root_));
    const auto [code, message] = refusal();
    EXPECT_EQ(code, ExitCode::temporary);
    EXPECT_EQ(message, root_.string() + " is in use by process " + std::to_string(::getpid()) +
                           ": wait until it has ended, or choose another output folder");
  }
  EXPECT_FALSE(is_locked(root_));
  EXPECT_EQ(refusal().first, ExitCode::ok);
}

TEST_F(FolderLockTest, is_shared_with_those_that_share_it_only) {
  std::ofstream(lock_) << "99999999999";
  {
    const FolderLock first(root_, FolderLock::Mode::shared);
    const FolderLock second(root_, FolderLock::Mode::shared);
    EXPECT_TRUE(first.is_held());
    EXPECT_TRUE(second.is_held());
    EXPECT_EQ(refusal().first, ExitCode::temporary);
    EXPECT_THAT(refusal().second, HasSubstr("is in use by another process"));
  }
  const FolderLock exclusive(root_);
  EXPECT_THROW(FolderLock(root_, FolderLock::Mode::shared), FatalError);
}

TEST_F(FolderLockTest, changes_no_file_of_another_program) {
  std::ofstream(lock_) << "notes";
  {
    const files::FileDescriptor file(::open(lock_.c_str(), O_RDONLY | O_CLOEXEC));
    ASSERT_EQ(::flock(file.get(), LOCK_EX), 0);
    EXPECT_THAT(refusal().second, HasSubstr("is in use by another process"));
  }
  EXPECT_EQ(refusal().first, ExitCode::cannot_create);
  EXPECT_THAT(refusal().second, HasSubstr("not a lock file of eckart"));
  EXPECT_EQ(text(), "notes");
  fs::rename(lock_, root_ / "other");
  fs::create_symlink(root_ / "other", lock_);
  EXPECT_EQ(refusal().first, ExitCode::cannot_create);
  EXPECT_THAT(refusal().second, HasSubstr("is a symbolic link, which is not followed"));
}

/// As by another process that examines the lock at the same time.
TEST_F(FolderLockTest, is_not_held_by_one_who_examines_it) {
  EXPECT_FALSE(is_locked(root_)) << "there is no file";
  { const FolderLock lock(root_); }
  const files::FileDescriptor file(::open(lock_.c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(::flock(file.get(), LOCK_SH), 0);
  EXPECT_FALSE(is_locked(root_));
}

TEST_F(FolderLockTest, notices_that_its_folder_was_replaced) {
  const FolderLock lock(root_);
  EXPECT_NO_THROW(lock.check_not_replaced());
  fs::rename(root_, folder_.path() / "moved");
  EXPECT_FALSE(lock.is_in_place());
  fs::create_directories(lock_.parent_path());
  std::ofstream(lock_) << "1";
  EXPECT_FALSE(lock.is_in_place());
  EXPECT_THROW(lock.check_not_replaced(), EnvironmentError);
}

}  // namespace
}  // namespace eckart::io
