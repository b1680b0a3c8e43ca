#include "app/shard_settings.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "app/shard_files.hpp"
#include "tests/support/temp_folder.hpp"

namespace eckart::app {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::vector<std::string> kRank2{"png, solver auto, rank 2"},
    kRank5{"png, solver auto, rank 5"},
    kBoth{"png, solver auto, rank 2", "png, solver auto, rank 5"};

class ShardSettingTest : public testing::Test {
 protected:
  std::string difference(const std::vector<std::string>& settings) const {
    return shard_settings_difference(out_.path(), settings);
  }
  /// So that times of notes differ, whatever the file system records.
  void make_notes_older() const {
    for (const auto& entry : fs::directory_iterator(shards_folder(out_.path())))
      fs::last_write_time(entry.path(),
                          fs::last_write_time(entry.path()) - std::chrono::seconds(10));
  }
  const test::TempFolder out_;
};

TEST_F(ShardSettingTest, does_not_differ_if_none_or_the_same_is_noted) {
  EXPECT_EQ(difference(kRank2), "");
  note_settings(out_.path(), kRank2);
  note_settings(out_.path(), kRank2);
  EXPECT_EQ(difference(kRank2), "");
  EXPECT_THAT(noted_settings(out_.path()), ElementsAre(kRank2));
}

TEST_F(ShardSettingTest, is_compared_with_the_newest) {
  note_settings(out_.path(), kRank2);
  make_notes_older();
  note_settings(out_.path(), kRank5);
  EXPECT_EQ(difference(kRank5), "");
  EXPECT_EQ(difference(kRank2), "rank 5 -> 2");
  make_notes_older();
  note_settings(out_.path(), kRank2);
  EXPECT_EQ(difference(kRank2), "rank 5 -> 2") << "noted before: they stay the older ones";
  note_settings(out_.path(), kRank2, true);
  EXPECT_EQ(difference(kRank2), "");
  EXPECT_EQ(difference(kRank5), "rank 2 -> 5");
  EXPECT_THAT(noted_settings(out_.path()), ElementsAre(kRank5, kRank2));
}

TEST_F(ShardSettingTest, becomes_the_newest_though_another_clock_is_fast) {
  note_settings(out_.path(), kRank2);
  for (const auto& entry : fs::directory_iterator(shards_folder(out_.path())))
    fs::last_write_time(entry.path(), fs::file_time_type::clock::now() + std::chrono::minutes(1));
  note_settings(out_.path(), kRank5, true);
  EXPECT_EQ(difference(kRank5), "");
  EXPECT_EQ(difference(kRank2), "rank 5 -> 2");
}

/// Two processes with other settings that began in the same moment.
TEST_F(ShardSettingTest, is_the_newest_beside_another_of_the_same_time) {
  note_settings(out_.path(), kRank2);
  note_settings(out_.path(), kRank5);
  const auto time = fs::file_time_type::clock::now();
  for (const auto& entry : fs::directory_iterator(shards_folder(out_.path())))
    fs::last_write_time(entry.path(), time);
  EXPECT_EQ(difference(kRank2), "");
  EXPECT_EQ(difference(kRank5), "");
}

TEST_F(ShardSettingTest, names_outputs_that_only_one_has) {
  note_settings(out_.path(), kBoth);
  EXPECT_EQ(difference(kRank5), "without output: png, solver auto, rank 2");
  EXPECT_EQ(difference({kBoth[1], kBoth[0]}), "") << "their order does not matter";
  note_settings(out_.path(), {kBoth[1], kBoth[0]});
  EXPECT_THAT(noted_settings(out_.path()), SizeIs(1));
  EXPECT_EQ(difference({"png, solver auto, rank 3", "png, solver auto, rank 5"}), "rank 2 -> 3");
  EXPECT_EQ(difference(
                {"jpeg, solver auto, quality 90, rank 2", "jpeg, solver auto, quality 90, rank 5"}),
            "format png -> jpeg, quality none -> 90")
      << "once, though it is that of both";
  EXPECT_EQ(describe_settings_changes({kRank2, kBoth, kBoth, kRank5}),
            "with output: png, solver auto, rank 5; without output: png, solver auto, rank 2");
  EXPECT_THAT(describe_settings_changes({kRank2}), IsEmpty());
}

}  // namespace
}  // namespace eckart::app
