// Tests a watch whose output folder is on a disk that is full, another one, or not mounted.
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <optional>
#include <span>
#include <string>

#include "core/error.hpp"
#include "tests/support/other_disk.hpp"
#include "tests/unit/app/watched_folder_fixture.hpp"

namespace {

// A write beyond this size fails with no space; -1: no limit. Other tests of the program write in
// several threads, without a limit.
std::atomic<std::int64_t> max_file_bytes = -1;
std::int64_t largest_file_bytes = 0;  // the largest file written under the limit

}  // namespace

/// Whether `size` more bytes fit; if not, sets errno.
static bool has_space_for(int descriptor, std::size_t size) {
  struct stat status {};
  if (max_file_bytes < 0) return true;
  if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
      status.st_size + std::int64_t(size) > max_file_bytes) {
    errno = ENOSPC;
    return false;
  }
  largest_file_bytes =
      std::max<std::int64_t>(largest_file_bytes, status.st_size + std::int64_t(size));
  return true;
}

extern "C" ssize_t write(int descriptor, const void* bytes, std::size_t size) {
  return has_space_for(descriptor, size) ? ::syscall(SYS_write, descriptor, bytes, size) : -1;
}

extern "C" ssize_t writev(int descriptor, const iovec* parts, int count) {
  std::size_t size = 0;
  for (const iovec& part : std::span(parts, std::size_t(count))) size += part.iov_len;
  return has_space_for(descriptor, size) ? ::syscall(SYS_writev, descriptor, parts, count) : -1;
}

extern "C" int fstatvfs(int descriptor, struct statvfs* disk) {
  struct statfs status {};
  if (::fstatfs(descriptor, &status) != 0) return -1;
  *disk = {};
  disk->f_frsize = 1;
  disk->f_bavail = max_file_bytes >= 0 ? fsblkcnt_t(max_file_bytes)
                                       : status.f_bavail * fsblkcnt_t(status.f_bsize);
  return 0;
}

namespace eckart::app {
namespace {

namespace fs = std::filesystem;
using settings::DoneInputAction;

/// During its lifetime, no file can grow beyond the given number of bytes.
class LimitedSpace {
 public:
  explicit LimitedSpace(std::int64_t bytes) {
    max_file_bytes = bytes;
    largest_file_bytes = 0;
  }
  ~LimitedSpace() { max_file_bytes = -1; }
  LimitedSpace(const LimitedSpace&) = delete;
  LimitedSpace& operator=(const LimitedSpace&) = delete;
};

class WatchedFolderOnOtherDiskTest : public WatchedFolderTest {
 protected:
  void SetUp() override {
    WatchedFolderTest::SetUp();
    if (!test::has_other_disk()) GTEST_SKIP() << test::kNoOtherDisk;
    disk_folder_.emplace(test::kOtherDisk);
    disk_ = disk_folder_->path();
  }

  std::optional<test::TempFolder> disk_folder_;
  fs::path disk_;
};

/// A file that is claimed, and restored because it cannot be copied, looks like an arrival.
TEST_F(WatchedFolderOnOtherDiskTest, delays_retry_of_unremovable_input) {
  for (const auto& ledger : {settings::FileChoice{}, settings::FileChoice::none()}) {
    const char* const name = ledger.is_auto() ? "auto" : "none";
    settings::WatchSettings watch = this->watch(DoneInputAction::remove);
    watch.output = disk_ / name;
    watch.settings.ledger = ledger;
    WatchedFolder folder(watch);
    const fs::path place = watch.output / ".eckart/quarantine/q.png";
    pipeline::ItemPtr item = bad_item(folder, "q.png");
    publish(folder, item);
    EXPECT_TRUE(fs::exists(place));
    const nlohmann::json first = json(place.native() + ".record.json");

    item = bad_item(folder, "q.png");
    fs::resize_file(at("in/q.png"), 2500000);  // too large to be copied
    item->identity = io::identity_of(item->rooted_file);
    item->file_state = item->identity.state;
    publish(folder, item);
    EXPECT_TRUE(fs::exists(at("in/q.png")));
    EXPECT_FALSE(needs_processing(folder, *item)) << name;
    EXPECT_EQ(json(place.native() + ".record.json"), first) << "the reason of the other file";
    EXPECT_EQ(json(place.native() + ".kept.json").value("input_bytes", 0), 2500000);
  }
}

/// Other files must not wait until there is enough free space.
TEST_F(WatchedFolderOnOtherDiskTest, keeps_a_bad_file_for_which_the_quarantine_has_no_space) {
  settings::WatchSettings watch = this->watch(DoneInputAction::remove);
  watch.output = disk_ / "out";
  WatchedFolder folder(watch);
  pipeline::ItemPtr item = bad_item(folder, "a.png");
  fs::resize_file(at("in/a.png"), 900000);
  item->identity = io::identity_of(item->rooted_file);
  item->file_state = item->identity.state;
  {
    const LimitedSpace space(100000);
    publish(folder, item);
    EXPECT_LT(largest_file_bytes, 10000) << "nor is the disk full while that shows";
  }
  EXPECT_EQ(item->outcome.result, ItemResult::failed) << "and no environment is to blame";
  EXPECT_TRUE(fs::exists(at("in/a.png")));
  EXPECT_FALSE(needs_processing(folder, *item));
  EXPECT_TRUE(json(watch.output / ".eckart/quarantine/a.png.kept.json").contains("input"));

  item = bad_item(folder, "b.png");
  {
    const LimitedSpace none(0);
    publish(folder, item);
  }
  EXPECT_EQ(item->outcome.result, ItemResult::deferred) << "its reason has no space either";
}

class WatchedFolderDiskTest : public WatchedFolderTest {};

TEST_F(WatchedFolderDiskTest, waits_for_unmounted_output_disk) {
  if (!test::has_other_disk()) GTEST_SKIP() << test::kNoOtherDisk;
  const test::TempFolder disk_folder(test::kOtherDisk);
  const fs::path& disk = disk_folder.path();
  fs::create_directory(at("mount point"));
  fs::create_directory_symlink(disk, at("out"));
  WatchedFolder folder(watch());
  std::ofstream(at("in/a.png")) << "x";
  io::SourceItem arrival;
  arrival.file = at("in/a.png");
  arrival.relative = "a.png";
  const auto needs_processing = [&] { return folder.needs_processing(arrival, {}); };
  EXPECT_TRUE(needs_processing());
  const auto lead_to = [&](const fs::path& place) {
    fs::remove(at("out"));
    fs::create_directory_symlink(place, at("out"));
  };
  lead_to(at("mount point"));
  EXPECT_THROW(needs_processing(), EnvironmentError);
  EXPECT_TRUE(fs::is_empty(at("mount point"))) << "where all would be lost beneath the disk";
  lead_to(disk);
  EXPECT_TRUE(needs_processing());
}

TEST_F(WatchedFolderDiskTest, waits_for_an_output_disk_that_was_unmounted_before_the_first_file) {
  if (!test::has_other_disk()) GTEST_SKIP() << test::kNoOtherDisk;
  const test::TempFolder disk_folder(test::kOtherDisk);
  fs::create_directory(at("mount point"));
  const auto lead_to = [&](const fs::path& place) {
    fs::remove(at("out"));
    fs::create_directory_symlink(place, at("out"));
  };
  write_image(at("in/a.png"));
  for (const bool is_mounted_first : {true, false}) {
    lead_to(is_mounted_first ? disk_folder.path() : at("mount point"));
    WatchedFolder folder(watch());
    lead_to(is_mounted_first ? at("mount point") : disk_folder.path());
    if (is_mounted_first) {
      EXPECT_THROW(needs_processing(folder, found(at("in"), "a.png")), EnvironmentError);
      EXPECT_TRUE(fs::is_empty(at("mount point"))) << "where all would be hidden by the disk";
    } else {
      EXPECT_TRUE(needs_processing(folder, found(at("in"), "a.png"))) << "a disk may be mounted";
    }
  }
}

TEST_F(WatchedFolderDiskTest,
       has_no_free_space_of_another_disk_while_that_of_the_outputs_is_unmounted) {
  if (!test::has_other_disk()) GTEST_SKIP() << test::kNoOtherDisk;
  const test::TempFolder disk_folder(test::kOtherDisk);
  fs::create_directory(at("mount point"));
  fs::create_directory_symlink(disk_folder.path(), at("out"));
  fs::create_directory(disk_folder.path() / ".eckart");
  WatchedFolder folder(watch());
  folder.maintain({});
  EXPECT_GT(folder.figures().free_bytes(), 0);
  fs::remove(at("out"));
  fs::create_directory_symlink(at("mount point"), at("out"));
  folder.maintain({});
  EXPECT_EQ(folder.figures().free_bytes(), -1) << "not the space of the disk beneath";
}

TEST_F(WatchedFolderDiskTest, moves_nothing_onto_unmounted_disk) {
  if (!test::has_other_disk()) GTEST_SKIP() << test::kNoOtherDisk;
  const test::TempFolder disk_folder(test::kOtherDisk);
  const fs::path& disk = disk_folder.path();
  fs::create_directory(at("mount point"));
  fs::create_directory_symlink(disk, at("done"));
  settings::WatchSettings moving = watch(DoneInputAction::move);
  moving.move_to = at("done");
  WatchedFolder folder(moving);
  write_image(at("in/a.png"));
  EXPECT_TRUE(needs_processing(folder, found(at("in"), "a.png")));
  fs::remove(at("done"));
  for (const bool is_mount_point : {true, false}) {
    if (is_mount_point) fs::create_directory_symlink(at("mount point"), at("done"));
    EXPECT_THROW(needs_processing(folder, found(at("in"), "a.png")), EnvironmentError);
    EXPECT_EQ(process(folder, at("in"), "a.png").result, ItemResult::deferred);
    EXPECT_TRUE(fs::exists(at("in/a.png")));
    EXPECT_TRUE(fs::is_empty(at("mount point"))) << "where it would be hidden by the disk";
    EXPECT_EQ(fs::remove(at("done")), is_mount_point) << "not made again";
  }
  fs::create_directory_symlink(disk, at("done"));
  EXPECT_TRUE(needs_processing(folder, found(at("in"), "a.png")));
  EXPECT_EQ(process(folder, at("in"), "a.png").result, ItemResult::skipped);
  EXPECT_TRUE(fs::exists(disk / "a.png"));
  EXPECT_FALSE(fs::exists(at("in/a.png")));
}

}  // namespace
}  // namespace eckart::app
