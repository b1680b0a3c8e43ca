// Moves between file systems, which are copies.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <utility>

#include "core/error.hpp"
#include "io/unnamed_file.hpp"
#include "tests/support/other_disk.hpp"
#include "tests/unit/codec/failure_of.hpp"
#include "tests/unit/io/claimed_file_fixture.hpp"

namespace eckart::io {
namespace {

using test::before_rename;

/// Moves a file between two file systems.
class MoveFileCopyTest : public ClaimedFileTest {
 protected:
  void SetUp() override {
    if (!test::has_other_disk()) GTEST_SKIP() << test::kNoOtherDisk;
    elsewhere_folder_.emplace(test::kOtherDisk);
    elsewhere_ = elsewhere_folder_->path();
    to_ = RootDirectory::open(elsewhere_)->open_below({});
  }
  void TearDown() override { test::on_fsync = {}; }

  /// Returns the message of the exception, or "" if there is none.
  std::string move(const fs::path& name, std::int64_t max_mb = 1,
                   const FileIdentity* expected = nullptr) const {
    const DirectoryPtr from = root()->open_below({});
    try {
      EXPECT_TRUE(move_file({*from, name, folder_.path() / name}, {*to_, name, elsewhere_ / name},
                            max_mb, expected));
    } catch (const ItemError& error) {
      EXPECT_TRUE(fs::is_empty(elsewhere_));
      return error.what();
    }
    return "";
  }

  RootDirectoryPtr there() const { return RootDirectory::open(elsewhere_); }
  std::size_t copies() const {
    return std::size_t(std::distance(fs::directory_iterator(elsewhere_), {}));
  }
  struct stat status(const fs::path& path) const {
    struct stat status {};
    EXPECT_EQ(::lstat(path.c_str(), &status), 0) << path;
    return status;
  }

  std::optional<test::TempFolder> elsewhere_folder_;
  fs::path elsewhere_;
  DirectoryPtr to_;
};

TEST_F(MoveFileCopyTest, does_not_wait_for_a_fifo) {
  ASSERT_EQ(::mkfifo((folder_.path() / "a.png").c_str(), 0600), 0);
  EXPECT_THAT(move("a.png"), testing::HasSubstr("it is not a regular file"));
  EXPECT_TRUE(fs::is_fifo(folder_.path() / "a.png"));
}

TEST_F(MoveFileCopyTest, rejects_a_file_that_is_too_large) {
  fs::resize_file(write("a.png", ""), 1 << 20);
  EXPECT_EQ(move("a.png"), "");
  fs::remove(elsewhere_ / "a.png");
  fs::resize_file(write("a.png", ""), (1 << 20) + 1);
  EXPECT_THAT(move("a.png"), testing::HasSubstr("larger than limits.file_mb = 1"));
}

TEST_F(MoveFileCopyTest, rejects_another_file) {
  write("b.png", "2");
  write("a.png", "1");
  const FileIdentity other = identity_of(rooted_file("b.png"));
  EXPECT_THAT(move("a.png", 1, &other), testing::HasSubstr("it was replaced by another file"));
  EXPECT_EQ(move("b.png", 1, &other), "");
}

TEST_F(MoveFileCopyTest, copies_a_link_itself) {
  write("secret", "1");
  fs::create_symlink(folder_.path() / "secret", folder_.path() / "a.png");
  EXPECT_EQ(move("a.png"), "");
  EXPECT_TRUE(fs::is_symlink(elsewhere_ / "a.png"));
  EXPECT_FALSE(fs::is_symlink(folder_.path() / "a.png"));
  EXPECT_EQ(read(folder_.path() / "secret"), "1");
}

TEST_F(MoveFileCopyTest, keeps_the_modification_time) {
  const fs::path file = write("a.png", "1");
  const auto time = fs::last_write_time(file) - std::chrono::hours(5);
  fs::last_write_time(file, time);
  claim("a.png")->move_to(*there(), "a.png");
  EXPECT_EQ(read(elsewhere_ / "a.png"), "1");
  EXPECT_EQ(fs::last_write_time(elsewhere_ / "a.png"), time);
  EXPECT_EQ(files(), 0);
}

TEST_F(MoveFileCopyTest, rejects_a_claimed_file_that_is_too_large_or_was_written_to) {
  const fs::path file = write("a.png", "1");
  const auto error = [&](std::int64_t max_mb, const std::string& appended) {
    auto claimed = claim("a.png");
    for (const auto& entry : fs::directory_iterator(folder_.path()))
      std::ofstream(entry.path(), std::ios::app) << appended;
    return test::failure_of([&] { claimed->move_to(*there(), "a.png", max_mb); }).detail;
  };
  EXPECT_THAT(error(0, ""), testing::HasSubstr("it is larger than limits.file_mb = 0"));
  EXPECT_THAT(error(1, "2"), testing::HasSubstr("it was replaced by another file"));
  EXPECT_EQ(read(file), "12");
  EXPECT_EQ(copies(), 0u);
}

TEST_F(MoveFileCopyTest, keeps_mode_and_owner) {
  const fs::path file = write("a.png", "1");
  constexpr uid_t kSomebody = 12345;
  constexpr gid_t kSome = 54321;
  const bool may_give_away = ::chown(file.c_str(), kSomebody, kSome) == 0;
  ASSERT_EQ(::chmod(file.c_str(), 0624), 0);
  const struct stat before = status(file);
  EXPECT_EQ(move("a.png"), "");
  const struct stat after = status(elsewhere_ / "a.png");
  EXPECT_EQ(after.st_mode, before.st_mode);
  EXPECT_EQ(after.st_uid, before.st_uid);
  EXPECT_EQ(after.st_gid, before.st_gid);
  if (!may_give_away) GTEST_SKIP() << "only root can create a file of another user";
}

TEST_F(MoveFileCopyTest, keeps_the_acl) {
  const fs::path file = write("a.png", "1");
  struct Entry {
    std::uint16_t tag, permissions;
    std::uint32_t id;
  };
  constexpr std::uint32_t kNobody = 0xffffffff;
  const struct {
    std::uint32_t version;
    Entry entries[5];
  } acl{2,
        {{1, 6, kNobody}, {2, 4, 12345}, {4, 4, kNobody}, {0x10, 4, kNobody}, {0x20, 0, kNobody}}};
  constexpr const char* kName = "system.posix_acl_access";
  if (::setxattr(file.c_str(), kName, &acl, sizeof acl, 0) != 0)
    GTEST_SKIP() << "cannot set an ACL here: " << std::strerror(errno);
  const std::string copy = elsewhere_ / "probe";
  std::ofstream(copy) << "x";
  const bool copies_have_acl = ::setxattr(copy.c_str(), kName, &acl, sizeof acl, 0) == 0;
  fs::remove(copy);
  if (!copies_have_acl) GTEST_SKIP() << "cannot set an ACL on /dev/shm: " << std::strerror(errno);
  EXPECT_EQ(move("a.png"), "");
  std::array<char, sizeof acl> kept{};
  ASSERT_EQ(::getxattr((elsewhere_ / "a.png").c_str(), kName, kept.data(), kept.size()),
            ssize_t(kept.size()))
      << std::strerror(errno);
  EXPECT_EQ(std::memcmp(kept.data(), &acl, sizeof acl), 0);
}

TEST_F(MoveFileCopyTest, keeps_attributes_of_users) {
  const fs::path file = write("a.png", "1");
  const std::string probe = elsewhere_ / "probe";
  std::ofstream(probe) << "x";
  const bool can = ::setxattr(file.c_str(), "user.scanner", "7", 1, 0) == 0 &&
                   ::setxattr(probe.c_str(), "user.scanner", "7", 1, 0) == 0;
  fs::remove(probe);
  if (!can) GTEST_SKIP() << "not supported by both file systems: " << std::strerror(errno);
  EXPECT_EQ(move("a.png"), "");
  char value = 0;
  EXPECT_EQ(::getxattr((elsewhere_ / "a.png").c_str(), "user.scanner", &value, 1), 1);
  EXPECT_EQ(value, '7');
}

TEST_F(MoveFileCopyTest, is_private_while_it_is_written) {
  const fs::path file = write("a.png", "secret");
  ASSERT_EQ(::chmod(file.c_str(), 0600), 0);
  mode_t mode = 0;
  test::on_fsync = [&](int descriptor) {
    struct stat status {};
    if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode)) mode |= status.st_mode;
    return 0;
  };
  EXPECT_EQ(move("a.png"), "");
  EXPECT_EQ(mode, mode_t(S_IFREG | 0600));
}

/// A process that is killed then leaves nothing.
TEST_F(MoveFileCopyTest, has_no_name_while_it_is_written) {
  if (link_method(elsewhere_) == LinkMethod::none)
    GTEST_SKIP() << "the file system of " << elsewhere_ << " has no suitable O_TMPFILE";
  write("a.png", "1");
  std::size_t most = 0;
  test::on_fsync = [&](int descriptor) {
    struct stat status {};
    if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode))
      most = std::max(most, copies());
    return 0;
  };
  EXPECT_EQ(move("a.png"), "");
  EXPECT_EQ(most, 0U);
  EXPECT_EQ(copies(), 1U);
}

/// During the copy, another file arrives under the name of the original.
TEST_F(MoveFileCopyTest, keeps_a_file_that_arrives_meanwhile_under_a_name_of_any_length) {
  for (const std::string& name : {std::string("a.png"), std::string(251, 'x') + ".png"}) {
    const fs::path file = write(name, "1");
    auto claimed = claim(name);
    bool arrived = false;
    before_rename = [&] {                    // this rename finds another file system
      test::on_fsync = [&](int /*descr*/) {  // of the copy, and then of folders
        if (!std::exchange(arrived, true)) fs::rename(write("new", "2"), file);
        return 0;
      };
    };
    claimed->move_to(*there(), name);
    test::on_fsync = {};
    EXPECT_TRUE(arrived);
    EXPECT_EQ(read(file), "2");
    EXPECT_EQ(read(elsewhere_ / name), "1");
    fs::remove(file);
    EXPECT_EQ(files(), 0);
  }
}

TEST_F(MoveFileCopyTest, leaves_no_copies_when_the_folder_sync_fails) {
  write("a.png", "1");
  test::on_fsync = [](int descriptor) {
    struct stat status {};
    return ::fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode) ? EIO : 0;
  };
  for (int i = 0; i < 3; ++i)
    EXPECT_THROW(claim("a.png")->move_to(*there(), "a.png"), EnvironmentError);
  EXPECT_EQ(copies(), 0u);
  // After the copy has its name.
  int directories = 0;
  test::on_fsync = {};
  before_rename = [&] {
    before_rename = [&] { test::on_fsync = [&](int) { return ++directories, EIO; }; };
  };
  EXPECT_THROW(claim("a.png")->move_to(*there(), "a.png"), EnvironmentError);
  EXPECT_EQ(copies(), 0u);
  EXPECT_EQ(read(folder_.path() / "a.png"), "1");
}

TEST_F(MoveFileCopyTest, removes_the_copy_when_the_original_cannot_be_removed) {
  const auto fail = [](const char* name) {
    return std::string_view(name).starts_with(".eckart-claim-") ? EPERM : 0;
  };
  write("a.png", "1");
  {
    auto claimed = claim("a.png");
    test::on_unlink = fail;
    EXPECT_THROW(claimed->move_to(*there(), "a.png"), ItemError);
  }
  EXPECT_EQ(copies(), 0u);
  EXPECT_EQ(read(folder_.path() / "a.png"), "1");
}

/// The errors concern the new copy. A file of another program stays.
TEST_F(MoveFileCopyTest, removes_nothing_but_its_own_copy) {
  write("a.png", "1");
  auto claimed = claim("a.png");
  before_rename = [&] {  // this rename finds another file system
    test::on_fsync = [&](int) {
      if (!fs::exists(elsewhere_ / "a.png")) return 0;  // the copy has no name yet
      std::ofstream(elsewhere_ / "new") << "theirs";
      fs::rename(elsewhere_ / "new", elsewhere_ / "a.png");
      return EIO;
    };
  };
  EXPECT_THROW(claimed->move_to(*there(), "a.png"), EnvironmentError);
  EXPECT_EQ(read(elsewhere_ / "a.png"), "theirs");
}

/// The path is longer than PATH_MAX.
TEST_F(MoveFileCopyTest, accepts_a_destination_path_over_path_max) {
  fs::path relative;
  while (relative.native().size() < 4060 - 200) relative /= std::string(199, 'd');
  relative /= std::string(4070 - relative.native().size(), 'e').substr(0, 150);
  while (relative.native().size() + 7 < 4090) relative /= "f";
  relative /= "a.png";
  ASSERT_LT(relative.native().size(), 4096u);
  ASSERT_GT((elsewhere_ / relative).native().size(), 4096u);
  write("a.png", "1");
  claim("a.png")->move_to(*there(), relative);
  EXPECT_EQ(files(), 0);
  const DirectoryPtr folder = there()->open_below(relative.parent_path());
  ASSERT_TRUE(folder);
  EXPECT_TRUE(folder->contains("a.png"));
}

}  // namespace
}  // namespace eckart::io
