#include "app/watch_status.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "tests/support/temp_folder.hpp"

namespace eckart::app {
namespace {

using status_server::WatchCondition;

class WatchStatusTest : public testing::Test {
 protected:
  WatchStatusTest() {
    settings::WatchSettings watch;
    watch.name = "scans";
    watch.input = folder_.path() / "in";
    watch.output = folder_.path() / "out";
    folder_watch_.emplace(watch);
    state_.is_root_present = true;
  }
  status_server::WatchStatus status() const { return watch_status(*folder_watch_, state_); }

  const test::TempFolder folder_;
  std::optional<WatchedFolder> folder_watch_;
  io::WatchState state_;
};

TEST_F(WatchStatusTest, says_what_the_watch_waits_for) {
  EXPECT_EQ(status().condition, WatchCondition::watching);
  EXPECT_EQ(status().reason, "");
  state_.backoff_reason = "Input/output error";
  EXPECT_EQ(status().condition, WatchCondition::paused);
  EXPECT_EQ(status().reason, "Input/output error");
  state_.is_root_present = false;
  EXPECT_EQ(status().condition, WatchCondition::waiting_for_folder);
  EXPECT_EQ(status().reason, "the input folder is missing");
  state_.root_error = "Permission denied";
  EXPECT_EQ(status().condition, WatchCondition::cannot_read_folder);
  EXPECT_EQ(status().reason, "the input folder cannot be read: Permission denied");
}

TEST(WatchCondition, is_what_ends_the_last_environment_error) {
  using Remedy = EnvironmentError::Remedy;
  io::WatchState state;
  state.is_root_present = true;
  EXPECT_EQ(watch_condition(state, Remedy::free_disk_space), WatchCondition::watching);
  state.backoff_reason = "No space left on device";
  EXPECT_EQ(watch_condition(state, Remedy::free_disk_space), WatchCondition::waiting_for_space);
  EXPECT_EQ(watch_condition(state, Remedy::mount), WatchCondition::waiting_for_mount);
  EXPECT_EQ(watch_condition(state, Remedy::release_resources), WatchCondition::paused);
}

TEST_F(WatchStatusTest, counts_each_result_of_its_images) {
  const auto end = [&](ItemResult result, int times) {
    pipeline::WorkItem item;
    item.outcome.result = result;
    io::FinishStatus status{};
    for (int i = 0; i < times; ++i) status = folder_watch_->end(item);
    return status;
  };
  EXPECT_EQ(end(ItemResult::done, 5), io::FinishStatus::done);
  EXPECT_EQ(end(ItemResult::failed, 3), io::FinishStatus::done);
  EXPECT_EQ(end(ItemResult::skipped, 2), io::FinishStatus::done);
  EXPECT_EQ(end(ItemResult::incomplete, 7), io::FinishStatus::incomplete);
  EXPECT_EQ(end(ItemResult::deferred, 11), io::FinishStatus::environment_error);
  EXPECT_EQ(status().done, 5);
  EXPECT_EQ(status().failed, 3);
  EXPECT_EQ(status().skipped, 2);
  state_.unread_total = 13;
  EXPECT_EQ(status().not_read_total, 13);
  EXPECT_EQ(status().input, (folder_.path() / "in").native());
  EXPECT_EQ(status().output, (folder_.path() / "out").native());
  EXPECT_EQ(status().quarantine_files, 0);
}

TEST_F(WatchStatusTest, counts_all_files_that_are_not_finished) {
  state_.pending = 3;
  state_.ready = 2;
  state_.in_flight = 1;
  state_.unread_files.add("a.dng");
  EXPECT_EQ(status().waiting, 5);
  EXPECT_EQ(status().unfinished, 6);
  EXPECT_EQ(status().name, "scans");
  EXPECT_EQ(status().not_read, (telemetry::CountsByExtension{{".dng", 1}}));
  folder_watch_->maintain({});
  EXPECT_FALSE(status().free_bytes) << "the output folder does not exist";
  std::filesystem::create_directory(folder_.path() / "out");
  folder_watch_->maintain({});
  EXPECT_GT(status().free_bytes.value_or(0), 0);
}

}  // namespace
}  // namespace eckart::app
