// Mounts, file systems without events, and system limits. Each test runs in its own process and
// namespaces, where it may mount and set limits.
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/error.hpp"
#include "io/input_guard.hpp"
#include "tests/support/no_free_descriptors.hpp"
#include "tests/unit/io/watch/watch_source_fixture.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

bool write_to(const char* file, const std::string& text) {
  std::ofstream stream(file);
  return bool(stream << text << std::flush);
}

/// Returns "", or why it failed. Setting limits needs a new user namespace, which a process with
/// several threads cannot enter. Sanitizers add threads.
std::string enter_namespaces(bool own_limits) {
  const std::string user = "0 " + std::to_string(::geteuid()) + " 1";
  const std::string group = "0 " + std::to_string(::getegid()) + " 1";
  if (!own_limits && ::unshare(CLONE_NEWNS) == 0) {
    return ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 ? "" : "no mounts";
  }
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return std::strerror(errno);
  write_to("/proc/self/setgroups", "deny");
  if (!write_to("/proc/self/uid_map", user) || !write_to("/proc/self/gid_map", group)) {
    return "users cannot be mapped";
  }
  return "";
}

class MountTest : public WatchSourceFixture {
 protected:
  static void mount_tmpfs(const fs::path& at) {
    ASSERT_EQ(::mount("none", at.c_str(), "tmpfs", 0, nullptr), 0) << std::strerror(errno);
  }
  /// Retries, because unmounting fails while a scan has the folder open.
  static void unmount(const fs::path& at) {
    bool unmounted = false;
    wait_for([&] { return unmounted || (unmounted = ::umount(at.c_str()) == 0); });
  }
};

class SystemLimitTest : public MountTest {};

#define ENTER_NAMESPACES(own_limits)                                                      \
  if (const std::string skip_reason = enter_namespaces(own_limits); !skip_reason.empty()) \
  GTEST_SKIP() << "cannot enter namespaces: " << skip_reason

TEST_F(MountTest, detects_a_mount_over_the_root_and_its_unmount) {
  ENTER_NAMESPACES(false);
  write("below.png");
  start();
  EXPECT_THAT(take_and_finish(1), ElementsAre("below.png"));
  mount_tmpfs(root_);
  write("above.png");
  EXPECT_THAT(take_and_finish(1), ElementsAre("above.png"));
  unmount(root_);
  EXPECT_THAT(take_and_finish(1), ElementsAre("below.png"));
}

TEST_F(MountTest, searches_no_part_of_an_own_folder_that_is_mounted_in_the_root) {
  ENTER_NAMESPACES(false);
  const fs::path out = folder_.path() / "out put";  // mountinfo writes spaces in octal digits
  fs::create_directories(out / "day1" / "deep");
  std::ofstream(out / "day1" / "deep" / "a.png") << "x";
  fs::create_directories(root_ / "b");
  WatchOptions options = options_for(root_);
  options.own_folders = OwnFolders({out});
  ASSERT_EQ(::mount((out / "day1").c_str(), (root_ / "b").c_str(), nullptr, MS_BIND, nullptr), 0);
  write("c.png");
  start({{options, {}}});
  EXPECT_THAT(take_and_finish(1), ElementsAre("c.png"));
  EXPECT_EQ(count_log_lines("b leads to " + out.string()), 1);
}

/// A root inside an own folder is searched, as when the inputs are in the output folder.
TEST_F(MountTest, searches_a_root_in_an_own_folder) {
  ENTER_NAMESPACES(false);
  write("d/a.png");
  WatchOptions options = options_for(root_);
  options.own_folders = OwnFolders({root_.parent_path()});
  start({{options, {}}});
  EXPECT_THAT(take_and_finish(1), ElementsAre("d/a.png"));
}

TEST_F(MountTest, leads_to_no_output_in_an_input_folder) {
  ENTER_NAMESPACES(false);
  const fs::path out = folder_.path() / "out";
  fs::create_directories(out / "b");
  fs::create_directories(root_ / "day1" / "deep");
  const InputGuard guard({root_}, out);
  EXPECT_NO_THROW(guard.check_free(out / "b" / "deep" / "x.png"));
  ASSERT_EQ(::mount((root_ / "day1").c_str(), (out / "b").c_str(), nullptr, MS_BIND, nullptr), 0);
  EXPECT_THROW(guard.check_free(out / "b" / "a.png"), ItemError);
  EXPECT_THROW(InputGuard({root_}, out / "b" / "new"), FatalError);
}

TEST_F(MountTest, detects_a_mount_over_a_folder_and_its_unmount) {
  ENTER_NAMESPACES(false);
  write("d/below.png");
  start();
  EXPECT_THAT(take_and_finish(1), ElementsAre("d/below.png"));
  mount_tmpfs(root_ / "d");
  write("d/above.png");
  source_->request_scan(0);
  EXPECT_THAT(take_and_finish(1), ElementsAre("d/above.png"));
  write("d/later.png");
  EXPECT_THAT(take_and_finish(1), ElementsAre("d/later.png"));
  unmount(root_ / "d");
  EXPECT_THAT(take_and_finish(1), ElementsAre("d/below.png"));
  write("d/later.png");
  EXPECT_THAT(take_and_finish(1), ElementsAre("d/later.png"));
}

TEST_F(MountTest, polls_a_file_system_without_events) {
  ENTER_NAMESPACES(false);
  const fs::path layers = folder_.path() / "layers";
  fs::create_directory(layers);
  mount_tmpfs(layers);
  for (const char* name : {"lower", "upper", "work"}) fs::create_directory(layers / name);
  const std::string parts = "lowerdir=" + (layers / "lower").string() +
                            ",upperdir=" + (layers / "upper").string() +
                            ",workdir=" + (layers / "work").string();
  if (::mount("none", root_.c_str(), "overlay", 0, parts.c_str()) != 0)
    GTEST_SKIP() << "cannot mount an overlay: " << std::strerror(errno);
  start();
  wait_for([&] { return state().is_scan_complete; });
  EXPECT_TRUE(state().is_polling);
  EXPECT_EQ(count_log_lines("polling every 1 s: overlay does not report all changes"), 1);
  std::ofstream(layers / "lower/a.png") << "x";
  EXPECT_EQ(next_name(), "a.png");
}

TEST_F(SystemLimitTest, polls_at_the_limit_of_watches) {
  ENTER_NAMESPACES(true);
  if (!write_to("/proc/sys/user/max_inotify_watches", "2")) GTEST_SKIP() << "cannot set this limit";
  for (const char* name : {"d/a.png", "e/b.png", "f/c.png"}) write(name);
  start();
  Names names = {next_name(), next_name(), next_name()};
  EXPECT_THAT(names, ElementsAre("d/a.png", "e/b.png", "f/c.png"));
  for (const char* name : {"d/1.png", "e/2.png", "f/3.png"}) write(name);
  names = {next_name(), next_name(), next_name()};
  EXPECT_THAT(names, ElementsAre("d/1.png", "e/2.png", "f/3.png"));
  EXPECT_EQ(count_log_lines("fs.inotify.max_user_watches"), 1);
  wait_for([&] { return state().is_polling; });
  ASSERT_TRUE(write_to("/proc/sys/user/max_inotify_watches", "100"));
  wait_for([&] { return count_log_lines("using inotify events again") == 1; });
  wait_for([&] { return !state().is_polling; });
}

TEST_F(SystemLimitTest, polls_at_the_limit_of_inotify_instances_without_cycles) {
  ENTER_NAMESPACES(true);
  if (!write_to("/proc/sys/user/max_inotify_instances", "0"))
    GTEST_SKIP() << "cannot set this limit";
  write("d/a.png");
  fs::create_directory_symlink("..", root_ / "d/up");
  WatchOptions options = options_for(root_);
  options.links = files::LinkPolicy::all;
  start({{options, {}}});
  EXPECT_EQ(next_name(), "d/a.png");
  wait_for([&] { return state().is_scan_complete; });
  EXPECT_EQ(count_log_lines("fs.inotify.max_user_instances"), 1);
  ASSERT_TRUE(write_to("/proc/sys/user/max_inotify_instances", "10"));
  wait_for([&] { return !state().is_polling; });
  write("d/b.png");
  EXPECT_EQ(next_name(), "d/b.png");
}

TEST_F(SystemLimitTest, loses_nothing_at_the_limit_of_descriptors) {
  start();
  wait_for([&] { return state().is_scan_complete; });
  fs::create_directory(root_ / "d");
  write("d/a.png");
  EXPECT_EQ(next_name(), "d/a.png");
  {
    const test::NoFreeDescriptors none;
    ASSERT_EQ(::rename((root_ / "d").c_str(), (root_ / "e").c_str()), 0);
    // The check of the root may come first, and call it not available.
    wait_for([&] { return count_log_lines("Too many open files") > 0; });
  }
  EXPECT_EQ(next_name(), "e/a.png");
}

}  // namespace
}  // namespace eckart::io
