#include "io/watch/scan_schedule.hpp"

#include <gtest/gtest.h>

#include "core/instant.hpp"

namespace eckart::io {
namespace {

using std::chrono::seconds;

Instant second(int s) { return Instant{} + seconds(1000000 + s); }

class ScanScheduleTest : public testing::Test {
 protected:
  void scan(int end, seconds work = seconds(0)) {
    schedule_.begin();
    schedule_.end(second(end), work, true);
  }
  ScanSchedule schedule_{seconds(300), seconds(1)};
};

TEST_F(ScanScheduleTest, starts_the_first_scan_at_once_and_the_next_after_a_period) {
  EXPECT_LE(schedule_.next_scan_at(), second(0));
  scan(5);
  EXPECT_EQ(schedule_.next_scan_at(), second(305));
}

TEST_F(ScanScheduleTest, starts_no_scan_while_one_is_running) {
  schedule_.begin();
  schedule_.request();
  schedule_.report_missed_file();
  EXPECT_EQ(schedule_.next_scan_at(), Instant::max());
}

TEST_F(ScanScheduleTest, pauses_at_least_ten_times_the_scan_duration) {
  scan(0, seconds(60));
  EXPECT_EQ(schedule_.next_scan_at(), second(600));
  schedule_.report_missed_file();
  EXPECT_EQ(schedule_.next_scan_at(), second(600)) << "also after a missed file";
}

TEST_F(ScanScheduleTest, scans_soon_after_a_miss) {
  scan(0);
  schedule_.report_missed_file();
  EXPECT_EQ(schedule_.next_scan_at(), second(1));
  scan(2);
  EXPECT_EQ(schedule_.next_scan_at(), second(302));
}

TEST_F(ScanScheduleTest, starts_a_requested_scan_at_once) {
  scan(0, seconds(60));
  schedule_.request();
  EXPECT_LE(schedule_.next_scan_at(), second(0));
}

TEST_F(ScanScheduleTest, starts_another_scan_for_a_request_during_a_scan) {
  schedule_.begin();
  schedule_.request();
  schedule_.end(second(0), seconds(1), true);
  EXPECT_LE(schedule_.next_scan_at(), second(0));
}

TEST_F(ScanScheduleTest, has_a_complete_scan_if_nothing_was_missed_since_it_began) {
  schedule_.report_missed_file();
  schedule_.begin();
  schedule_.report_missed_file();
  schedule_.end(second(0), seconds(0), true);
  EXPECT_FALSE(schedule_.has_complete_scan());
  EXPECT_EQ(schedule_.next_scan_at(), second(1));
  schedule_.begin();
  schedule_.end(second(2), seconds(0), false);
  EXPECT_FALSE(schedule_.has_complete_scan());
  scan(3);
  EXPECT_TRUE(schedule_.has_complete_scan());
  schedule_.report_missed_file();
  EXPECT_TRUE(schedule_.has_complete_scan()) << "a later loss does not count";
}

TEST_F(ScanScheduleTest, may_change_its_period) {
  scan(0);
  schedule_.set_period(seconds(5));
  EXPECT_EQ(schedule_.next_scan_at(), second(5));
}

}  // namespace
}  // namespace eckart::io
