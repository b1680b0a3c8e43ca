#include "io/watch/unread_tracker.hpp"

#include <gtest/gtest.h>

namespace eckart::io {
namespace {

using std::chrono::seconds;

class UnreadTrackerTest : public testing::Test {
 protected:
  static Instant at(int s) { return Instant() + seconds(s); }
  void scan(int s, int tif_files) {
    tracker_.begin_scan();
    for (int i = 0; i < tif_files; ++i) tracker_.on_scanned("a.dng");
    tracker_.end_scan(at(s));
  }

  UnreadTracker tracker_{seconds(300)};
};

TEST_F(UnreadTrackerTest, logs_what_a_scan_found_once) {
  scan(1, 3);
  EXPECT_TRUE(tracker_.update(at(1)));
  EXPECT_EQ(tracker_.total(), 3);
  scan(400, 3);
  EXPECT_FALSE(tracker_.update(at(400)));
  EXPECT_EQ(tracker_.total(), 3);
}

TEST_F(UnreadTrackerTest, logs_at_most_once_an_interval) {
  scan(1, 3);
  EXPECT_TRUE(tracker_.update(at(1)));
  tracker_.on_added("b.heic", at(2));
  EXPECT_FALSE(tracker_.update(at(12)));
  EXPECT_EQ(tracker_.total(), 4);
  EXPECT_EQ(tracker_.next_update(), at(301));
  EXPECT_TRUE(tracker_.update(at(301)));
}

TEST_F(UnreadTrackerTest, does_not_count_a_file_that_is_renamed_soon) {
  tracker_.on_added("a.png.filepart", at(1));
  tracker_.on_removed("a.png.filepart");
  EXPECT_FALSE(tracker_.update(tracker_.next_update()));
  EXPECT_EQ(tracker_.total(), 0);
}

TEST_F(UnreadTrackerTest, does_not_count_the_files_of_a_disk_twice_that_is_mounted_again) {
  scan(1, 3);
  tracker_.update(at(1));
  tracker_.on_added("b.heic", at(2));
  tracker_.clear();
  EXPECT_EQ(tracker_.present().total(), 0);
  EXPECT_FALSE(tracker_.update(at(12)));
  scan(500, 4);
  tracker_.update(at(500));
  EXPECT_EQ(tracker_.total(), 4);
}

}  // namespace
}  // namespace eckart::io
