#include "app/watched_folder.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "core/error.hpp"
#include "io/codec.hpp"
#include "io/publication.hpp"
#include "pipeline/attempt.hpp"
#include "pipeline/color_planes.hpp"
#include "pipeline/full_rank_filter.hpp"
#include "tests/pipeline/fake_memory.hpp"
#include "tests/support/other_disk.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/unit/io/make_rooted_file.hpp"

namespace {

std::int64_t max_file_bytes = -1;     // a write beyond this size fails with no space; -1: no limit
std::int64_t largest_file_bytes = 0;  // the largest file written under the limit

}  // namespace

extern "C" ssize_t write(int descriptor, const void* bytes, std::size_t size) {
  struct stat status {};
  if (max_file_bytes >= 0 && ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
      status.st_size + std::int64_t(size) > max_file_bytes) {
    errno = ENOSPC;
    return -1;
  }
  largest_file_bytes = std::max(largest_file_bytes, status.st_size + std::int64_t(size));
  return ::syscall(SYS_write, descriptor, bytes, size);
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

namespace fs = std::filesystem;
using settings::DoneInputAction;
using testing::HasSubstr;

class WatchedFolderTest : public testing::Test {
 protected:
  void SetUp() override { fs::create_directory(at("in")); }

  settings::WatchSettings watch(DoneInputAction after = DoneInputAction::keep) const {
    settings::WatchSettings watch;
    watch.input = at("in");
    watch.output = at("out");
    watch.after = after;
    watch.settings.backend = settings::BackendChoice::cpu;
    watch.settings.limits.file_mb = 1;
    watch.location = "test";
    return watch;
  }
  fs::path at(const fs::path& name) const { return folder_.path() / name; }
  /// Returns the item of a file in this input folder, as a watch finds it.
  static pipeline::WorkItem found(const fs::path& input, const fs::path& name) {
    pipeline::WorkItem item;
    item.file = input / name;
    item.relative = name;
    item.rooted_file = io::make_rooted_file(input, name);
    item.identity = io::identity_of(item.rooted_file);
    item.file_state = item.identity.state;
    return item;
  }
  /// Processes a file as the pipeline does, but with outputs that are not computed.
  Outcome process(WatchedFolder& folder, const fs::path& input, const fs::path& name) const {
    auto item = std::make_unique<pipeline::WorkItem>(found(input, name));
    flow::Budget budget(std::size_t(1) << 30);
    folder.assign_outputs(*item);
    test::FakeMemory memory([&](std::size_t bytes) { return budget.reserve(bytes); });
    pipeline::attempt(item->outcome, Stage::load, FailureReason::internal,
                      [&] { folder.load(*item, memory); });
    if (item->outcome.ok()) {
      item->task.outputs.emplace_back(item->task.input.shape());
      item->task.results.emplace_back(1);
      item->advance(pipeline::ItemState::loaded);
      folder.write(*item);
      if (item->outcome.ok()) item->advance(pipeline::ItemState::written);
    }
    publish(folder, item);
    item->output_ranks = {};  // these were the ranks of the folder
    return item->outcome;
  }
  void write_image(const fs::path& path) const {
    io::publish_file(path, io::codec_for(ImageFormat::png).encode(Image({8, 4, 1, Depth::u8}), {}));
  }
  /// Returns the item of a file that was read and is corrupt.
  pipeline::ItemPtr bad_item(WatchedFolder& folder, const fs::path& name) const {
    std::ofstream(at("in") / name) << "bad";
    auto item = std::make_unique<pipeline::WorkItem>(found(at("in"), name));
    folder.assign_outputs(*item);
    EXPECT_TRUE(item->outcome.ok()) << item->outcome.detail;
    item->outcome = Outcome::failed(Stage::load, FailureReason::corrupt, "why");
    return item;
  }
  /// Returns the quarantine record of a file that was kept in place.
  nlohmann::json reason(const fs::path& name) const {
    return json(at("out/.eckart/quarantine") / (name.native() + ".kept.json"));
  }
  static nlohmann::json json(const fs::path& path) {
    std::ifstream file(path);
    return nlohmann::json::parse(file, nullptr, false);
  }
  /// Publishes one item, as a pipeline does.
  static void publish(WatchedFolder& folder, pipeline::ItemPtr& item) {
    folder.publish(std::span(&item, 1));
    folder.end(*item);
    item->owner.reset();
  }
  static bool needs_processing(WatchedFolder& folder, const pipeline::WorkItem& item) {
    io::SourceItem arrival;
    arrival.file = item.file;
    arrival.relative = item.relative;
    return folder.needs_processing(arrival, item.file_state);
  }

  const test::TempFolder folder_;
};

TEST_F(WatchedFolderTest, records_hash_of_the_file_that_was_read) {
  WatchedFolder folder(watch());
  pipeline::ItemPtr item = bad_item(folder, "a.png");
  folder.publish(std::span(&item, 1));
  EXPECT_EQ(reason("a.png").value("sha256", ""),
            "2f05d4b689d270cafb02285f35f44866f7dc8a2d368a3f9d1124373eeab31fb1");
  EXPECT_TRUE(reason("a.png").at("sha256_error").is_null());
}

TEST_F(WatchedFolderTest, does_not_wait_for_a_fifo_in_place_of_a_bad_file) {
  WatchedFolder folder(watch());
  pipeline::ItemPtr item = bad_item(folder, "a.png");
  fs::remove(at("in/a.png"));
  ASSERT_EQ(::mkfifo(at("in/a.png").c_str(), 0600), 0);
  folder.publish(std::span(&item, 1));
  EXPECT_TRUE(reason("a.png").at("sha256").is_null());
  EXPECT_EQ(reason("a.png").value("sha256_error", ""), "is not a regular file");
}

TEST_F(WatchedFolderTest, does_not_read_a_huge_file_in_place_of_a_bad_one) {
  WatchedFolder folder(watch());
  pipeline::ItemPtr item = bad_item(folder, "a.png");
  fs::resize_file(at("in/a.png"), std::uintmax_t(8) << 40);
  folder.publish(std::span(&item, 1));
  EXPECT_THAT(reason("a.png").value("sha256_error", ""), HasSubstr("limits.file_mb"));
}

TEST_F(WatchedFolderTest, does_not_hash_a_sparse_file) {
  settings::WatchSettings sparse = watch();
  sparse.settings.limits.file_mb = 8;
  WatchedFolder folder(sparse);
  std::ofstream(at("in/a.png")) << "x";
  fs::resize_file(at("in/a.png"), std::uintmax_t(4) << 20);
  auto item = std::make_unique<pipeline::WorkItem>(found(at("in"), "a.png"));
  folder.assign_outputs(*item);
  item->outcome = Outcome::failed(Stage::load, FailureReason::corrupt, "why");
  folder.publish(std::span(&item, 1));
  EXPECT_EQ(reason("a.png").value("sha256_error", ""), "the file is mostly sparse");
}

TEST_F(WatchedFolderTest, does_not_hash_a_replaced_file) {
  WatchedFolder folder(watch());
  pipeline::ItemPtr item = bad_item(folder, "a.png");
  std::ofstream(at("secret")) << "sec";
  fs::rename(at("secret"), at("in/a.png"));
  folder.publish(std::span(&item, 1));
  EXPECT_EQ(reason("a.png").value("sha256_error", ""), "the file was replaced");
}

TEST_F(WatchedFolderTest, removes_only_the_file_that_was_read) {
  WatchedFolder folder(watch(DoneInputAction::remove));
  pipeline::ItemPtr item = bad_item(folder, "a.png");
  std::ofstream(at("other")) << "new";
  fs::rename(at("other"), at("in/a.png"));
  folder.publish(std::span(&item, 1));
  EXPECT_TRUE(fs::exists(at("in/a.png")));
  EXPECT_FALSE(fs::exists(at("out/.eckart/quarantine/a.png")));
}

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

TEST_F(WatchedFolderTest, removes_record_of_kept_input_once_quarantined) {
  pipeline::ItemPtr item;
  {
    WatchedFolder folder(watch());
    item = bad_item(folder, "a.png");
    publish(folder, item);
    EXPECT_TRUE(reason("a.png").contains("input"));
  }
  WatchedFolder folder(watch(DoneInputAction::remove));
  item = bad_item(folder, "a.png");
  publish(folder, item);
  EXPECT_TRUE(fs::exists(at("out/.eckart/quarantine/a.png.record.json")));
  EXPECT_FALSE(fs::exists(at("out/.eckart/quarantine/a.png.kept.json")));
}

/// Its path in the quarantine would exceed the maximum length.
TEST_F(WatchedFolderTest, does_not_retry_input_too_deep_for_the_quarantine) {
  const std::size_t room = 4090 - (at("in") / "a.png").native().size();
  fs::path deep;
  while (deep.native().size() + 200 < room) deep /= std::string(99, 'd');
  deep /= std::string(room - deep.native().size() - 2, 'e');
  fs::create_directories(at("in") / deep);
  ASSERT_LT((at("in") / deep / "a.png").native().size(), 4096u);
  pipeline::ItemPtr item;
  for (const auto after : {DoneInputAction::remove, DoneInputAction::keep}) {
    WatchedFolder folder(watch(after));
    item = bad_item(folder, deep / "a.png");
    publish(folder, item);
    EXPECT_EQ(item->outcome.result, ItemResult::failed) << "and no environment is to blame";
    EXPECT_TRUE(fs::exists(item->file));
    EXPECT_FALSE(needs_processing(folder, *item));
  }
  EXPECT_FALSE(
      needs_processing(*std::make_unique<WatchedFolder>(watch(DoneInputAction::remove)), *item))
      << "nor later";
}

TEST_F(WatchedFolderTest, waits_for_unmounted_output_disk) {
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

TEST_F(WatchedFolderTest,
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

TEST_F(WatchedFolderTest, moves_nothing_onto_unmounted_disk) {
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

TEST_F(WatchedFolderTest, does_not_defer_items_after_a_bug) {
  write_image(at("in/a.png"));
  WatchedFolder folder(watch());
  auto item = std::make_unique<pipeline::WorkItem>(found(at("in"), "a.png"));
  folder.assign_outputs(*item);
  pipeline::set_matrices(*item, Image({8, 4, 1, Depth::u8}), ColorMode::channels);
  const RankPolicy ranks[] = {2};
  pipeline::prepare_task(*item, ranks);
  folder.write(*item);  // the item is written, but its state does not say so
  EXPECT_THROW(folder.publish(std::span(&item, 1)), std::logic_error);
}

TEST_F(WatchedFolderTest, records_suspects_although_the_output_folder_of_another_is_missing) {
  std::vector<std::unique_ptr<WatchedFolder>> folders;
  std::vector<pipeline::WorkItem> items;
  for (const char* name : {"missing", "healthy"}) {
    settings::WatchSettings watch = this->watch();
    watch.input = at(name) / "in";
    watch.output = at(name) / "out";
    fs::create_directories(watch.input);
    write_image(watch.input / "a.png");
    WatchedFolder& folder = *folders.emplace_back(std::make_unique<WatchedFolder>(watch));
    items.push_back(found(watch.input, "a.png"));
    items.back().job = int(folders.size()) - 1;
    EXPECT_TRUE(needs_processing(folder, items.back()));
  }
  fs::rename(at("missing/out"), at("moved"));
  std::ofstream(at("missing/out")) << "a file in place of the folder";
  EXPECT_THROW(record_suspects(folders, {&items[0], &items[1]}), EnvironmentError);
  folders.clear();
  const auto ledger = ledger::Ledger::open_read_only(at("healthy/out/.eckart/ledger.db"));
  ASSERT_EQ(ledger->suspects().size(), 1u);
  EXPECT_EQ(ledger->suspects().front().input, at("healthy/in/a.png").native());
}

/// Each scan checks each file.
TEST_F(WatchedFolderTest, reads_copied_input_once_and_not_for_selection) {
  write_image(at("in/a.png"));
  {
    WatchedFolder before(watch());
    const Outcome outcome = process(before, at("in"), "a.png");
    ASSERT_TRUE(outcome.ok()) << outcome.detail;
    EXPECT_FALSE(needs_processing(before, found(at("in"), "a.png")));
  }
  fs::create_directory(at("copy"));
  fs::copy_file(at("in/a.png"), at("copy/a.png"));
  fs::last_write_time(at("copy/a.png"), fs::last_write_time(at("in/a.png")));
  settings::WatchSettings copied = watch();
  copied.input = at("copy");
  WatchedFolder folder(copied);
  const pipeline::WorkItem copy = found(at("copy"), "a.png");
  EXPECT_TRUE(needs_processing(folder, copy)) << "only what they hold tells";
  const Outcome outcome = process(folder, at("copy"), "a.png");
  EXPECT_EQ(outcome.result, ItemResult::skipped) << outcome.detail;
  EXPECT_FALSE(needs_processing(folder, copy)) << "it is recorded";
}

}  // namespace
}  // namespace eckart::app
