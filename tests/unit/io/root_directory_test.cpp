#include "io/root_directory.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <filesystem>
#include <fstream>

#include "tests/support/temp_folder.hpp"

namespace {
bool has_openat2 = true;
}

/// Replaces the library call, to simulate a kernel without openat2. Like that, it reads six
/// arguments, of which the caller may have passed fewer.
extern "C" __attribute__((no_sanitize("address"))) long syscall(long number, ...) noexcept {
  using Function = long (*)(long, ...);
  static const auto real = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "syscall"));
  va_list list;
  va_start(list, number);
  long arguments[6];
  for (long& argument : arguments) argument = va_arg(list, long);
  va_end(list);
  if (number == SYS_openat2 && !has_openat2) {
    errno = ENOSYS;
    return -1;
  }
  return real(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4],
              arguments[5]);
}

namespace eckart::io {
namespace {

namespace fs = std::filesystem;

/// The parameter selects openat2 or opening by component.
class RootDirectoryTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    has_openat2 = GetParam();
    fs::create_directories(root_ / "a/b");
    fs::create_directories(outside_ / "b");
  }
  void TearDown() override { has_openat2 = true; }

  static FileId id_of(const fs::path& path) { return RootDirectory::open(path)->id(); }
  static bool may_open(const RootDirectoryPtr& root, const fs::path& relative) {
    return bool(root->open_below(relative));
  }

  const test::TempFolder folder_;
  const fs::path root_ = folder_.path() / "root", outside_ = folder_.path() / "outside";
};

TEST_P(RootDirectoryTest, opens_itself_and_what_is_below) {
  const RootDirectoryPtr root = RootDirectory::open(root_);
  ASSERT_TRUE(root);
  EXPECT_EQ(root->open_below("")->id(), id_of(root_));
  EXPECT_EQ(root->open_below("a")->id(), id_of(root_ / "a"));
  EXPECT_EQ(root->open_below("a/b")->id(), id_of(root_ / "a/b"));
  EXPECT_FALSE(may_open(root, "c"));
  EXPECT_EQ(errno, ENOENT);
  std::ofstream(root_ / "file") << "x";
  EXPECT_FALSE(may_open(root, "file"));
  EXPECT_TRUE(is_missing_error(errno));
}

TEST_P(RootDirectoryTest, does_not_follow_links) {
  fs::create_directory_symlink(outside_, root_ / "last");
  fs::create_directory_symlink("a", root_ / "within");
  const RootDirectoryPtr root = RootDirectory::open(root_);
  for (const char* path : {"last", "last/b", "within", "within/b"}) {
    EXPECT_FALSE(may_open(root, path)) << path;
    EXPECT_TRUE(is_missing_error(errno)) << path << errno;
    EXPECT_FALSE(root->make_below(fs::path(path) / "new")) << path;
  }
  EXPECT_FALSE(fs::exists(outside_ / "new"));
  EXPECT_FALSE(fs::exists(outside_ / "b/new"));
}

TEST_P(RootDirectoryTest, does_not_open_a_path_above_it) {
  const RootDirectoryPtr root = RootDirectory::open(root_);
  for (const char* path : {"..", "../outside", "a/../../outside", "/"}) {
    EXPECT_FALSE(may_open(root, path)) << path;
    EXPECT_TRUE(is_missing_error(errno)) << path << errno;
    EXPECT_FALSE(root->make_below(fs::path(path) / "new")) << path;
  }
  EXPECT_FALSE(fs::exists(outside_ / "new"));
}

TEST_P(RootDirectoryTest, follows_links_to_directories_if_all_links_are_followed) {
  fs::create_directory_symlink(outside_, root_ / "link");
  EXPECT_EQ(RootDirectory::open(root_, files::LinkPolicy::all)->open_below("link/b")->id(),
            id_of(outside_ / "b"));
  EXPECT_FALSE(may_open(RootDirectory::open(root_, files::LinkPolicy::files), "link/b"));
}

TEST_P(RootDirectoryTest, may_be_reached_by_a_link_itself) {
  fs::create_directory_symlink(root_, folder_.path() / "link");
  const RootDirectoryPtr root = RootDirectory::open(folder_.path() / "link");
  EXPECT_EQ(root->open_below("a")->id(), id_of(root_ / "a"));
  fs::remove(folder_.path() / "link");
  fs::create_directory_symlink(outside_, folder_.path() / "link");
  EXPECT_FALSE(may_open(root, "a")) << "the root is no longer at its path";
}

TEST_P(RootDirectoryTest, opens_nothing_through_a_link_that_takes_its_place) {
  const RootDirectoryPtr root = RootDirectory::open(root_ / "a");
  fs::create_directory(folder_.path() / "archive");
  fs::rename(root_ / "a", folder_.path() / "archive/a");
  fs::create_directory_symlink("../archive/a", root_ / "a");
  EXPECT_FALSE(may_open(root, "b"));
  EXPECT_EQ(errno, ELOOP);
  EXPECT_FALSE(root->make_below("new"));
  EXPECT_TRUE(may_open(RootDirectory::open(root_ / "a"), "b")) << "a link from the beginning";
}

TEST_P(RootDirectoryTest, opens_nothing_through_a_link_above_it) {
  const RootDirectoryPtr root = RootDirectory::open(root_ / "a/");
  fs::create_directory(folder_.path() / "archive");
  fs::rename(root_, folder_.path() / "archive/root");
  fs::create_directory_symlink("archive/root", root_);
  EXPECT_FALSE(may_open(root, "b"));
  EXPECT_EQ(errno, ELOOP);
}

TEST_P(RootDirectoryTest, may_have_links_and_parents_in_its_path) {
  fs::create_directory_symlink(root_, folder_.path() / "link");
  const RootPath path(folder_.path() / "link/a/../a");
  EXPECT_TRUE(may_open(RootDirectory::open(path), "b"));
  fs::rename(root_ / "a", outside_ / "a");
  fs::create_directory_symlink(outside_ / "a", root_ / "a");
  EXPECT_FALSE(RootDirectory::open(path)) << "a below the link has become one";
  EXPECT_EQ(errno, ELOOP);
}

TEST_P(RootDirectoryTest, opens_nothing_through_a_link_in_the_target_of_a_link) {
  fs::create_directory_symlink("root/a", folder_.path() / "link");
  const RootPath path(folder_.path() / "link");
  EXPECT_EQ(path.real_path(), root_ / "a");
  fs::rename(root_ / "a", folder_.path() / "old");
  fs::create_directory_symlink("../old", root_ / "a");
  EXPECT_FALSE(RootDirectory::open(path));
  EXPECT_EQ(errno, ELOOP);
}

TEST_P(RootDirectoryTest, opens_nothing_through_a_link_that_leads_elsewhere_now) {
  const fs::path link = folder_.path() / "link";
  fs::create_directory_symlink(root_, folder_.path() / "other");
  fs::create_directory_symlink(folder_.path() / "other", link);
  const RootPath path(link / "a");
  EXPECT_EQ(path.real_path(), root_ / "a");
  EXPECT_TRUE(may_open(RootDirectory::open(path), "b"));
  fs::remove(link);
  EXPECT_FALSE(RootDirectory::open(path));
  EXPECT_EQ(errno, ENOENT);
  fs::create_directories(outside_ / "a/b");
  fs::create_directory_symlink(outside_, link);
  EXPECT_FALSE(RootDirectory::open(path));
  EXPECT_EQ(errno, ELOOP);
  fs::remove(link);
  fs::create_directory_symlink(folder_.path() / "other", link);
  EXPECT_TRUE(may_open(RootDirectory::open(path), "b"));
}

TEST_P(RootDirectoryTest, opens_nothing_through_a_loop_of_links) {
  fs::create_directory_symlink("loop", folder_.path() / "loop");
  EXPECT_FALSE(RootDirectory::open(RootPath(folder_.path() / "loop/a")));
  EXPECT_EQ(errno, ELOOP);
}

TEST_P(RootDirectoryTest, opens_nothing_when_moved_or_replaced) {
  const RootDirectoryPtr root = RootDirectory::open(root_);
  fs::rename(root_, folder_.path() / "moved");
  EXPECT_FALSE(may_open(root, "a"));
  fs::create_directories(root_ / "a");
  EXPECT_FALSE(may_open(root, "a"));
  EXPECT_FALSE(may_open(root, ""));
  EXPECT_EQ(errno, ENOENT);
  EXPECT_FALSE(root->make_below("new"));
  EXPECT_FALSE(fs::exists(folder_.path() / "moved/new"));
  fs::remove_all(root_);
  fs::rename(folder_.path() / "moved", root_);
  EXPECT_TRUE(may_open(root, "a"));
}

TEST_P(RootDirectoryTest, creates_missing_directories) {
  const RootDirectoryPtr root = RootDirectory::open(root_);
  const DirectoryPtr made = root->make_below("a/c/d");
  ASSERT_TRUE(made);
  EXPECT_EQ(made->id(), id_of(root_ / "a/c/d"));
  EXPECT_EQ(root->make_below("a/c/d")->id(), made->id());
  EXPECT_EQ(root->make_below("")->id(), id_of(root_));
}

TEST_P(RootDirectoryTest, removes_a_link_but_not_its_target) {
  std::ofstream(outside_ / "x") << "x";
  fs::create_symlink(outside_ / "x", root_ / "a/x");
  fs::create_directory_symlink(outside_, root_ / "link");
  const RootDirectoryPtr root = RootDirectory::open(root_);
  EXPECT_TRUE(root->remove_below("a/x"));
  EXPECT_FALSE(root->remove_below("link/x"));
  EXPECT_FALSE(fs::is_symlink(root_ / "a/x"));
  EXPECT_TRUE(fs::exists(outside_ / "x"));
}

TEST_P(RootDirectoryTest, keeps_an_open_directory_when_it_moves) {
  const DirectoryPtr directory = RootDirectory::open(root_)->open_below("a");
  std::ofstream(root_ / "a/x") << "x";
  fs::rename(root_ / "a", outside_ / "a");
  fs::create_directory(root_ / "a");
  EXPECT_TRUE(directory->contains("x"));
  EXPECT_EQ(directory->id(), id_of(outside_ / "a"));
}

INSTANTIATE_TEST_SUITE_P(Kernels, RootDirectoryTest, testing::Bool(),
                         [](const auto& kernel) { return kernel.param ? "openat2" : "walk"; });

}  // namespace
}  // namespace eckart::io
