#include "app/stall_record.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "core/error.hpp"
#include "tests/support/temp_folder.hpp"

namespace eckart::app {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

class StallRecordTest : public ::testing::Test {
 protected:
  void stall(const std::string& name, int times = 1) {
    for (int i = 0; i < times; ++i) StallRecord(file_).add(name, state_, now_);  // as each process
  }
  /// For how long it is not to be tried.
  minutes wait_of(const std::string& name) {
    const auto hold = StallRecord(file_).held_until(name, state_, now_);
    return hold ? std::chrono::ceil<minutes>(hold->until - now_) : minutes(0);
  }

  const test::TempFolder folder_;
  const std::filesystem::path file_ = folder_.path() / "stalls";
  FileState state_{.size = 1000, .mtime_ns = 123, .inode = 7};
  StallRecord::Time now_{hours(500000)};
};

TEST_F(StallRecordTest, the_first_stall_is_the_disks_and_later_ones_wait_longer_and_longer) {
  EXPECT_EQ(wait_of("a.png"), minutes(0));
  stall("a.png");
  EXPECT_EQ(wait_of("a.png"), minutes(0));
  stall("a.png");
  EXPECT_EQ(wait_of("a.png"), minutes(10));
  stall("a.png");
  EXPECT_EQ(wait_of("a.png"), minutes(20));
  stall("a.png", 50);
  EXPECT_EQ(wait_of("a.png"), hours(24));
  now_ += hours(24);
  EXPECT_EQ(wait_of("a.png"), minutes(0));
  EXPECT_EQ(wait_of("b.png"), minutes(0));
}

TEST_F(StallRecordTest, a_file_that_has_changed_is_another) {
  stall("a.png", 3);
  ++state_.size;
  EXPECT_EQ(wait_of("a.png"), minutes(0));
  stall("a.png");
  EXPECT_EQ(wait_of("a.png"), minutes(0));
}

TEST_F(StallRecordTest, a_file_that_is_done_is_forgotten) {
  stall("a.png", 2);
  stall("b.png", 2);
  StallRecord record(file_);
  EXPECT_TRUE(record.held_until("a.png", state_, now_));
  record.forget("a.png");
  EXPECT_EQ(wait_of("a.png"), minutes(0));
  EXPECT_EQ(wait_of("b.png"), minutes(10));
}

TEST_F(StallRecordTest, is_told_once) {
  stall("a.png", 2);
  StallRecord record(file_);
  EXPECT_TRUE(record.held_until("a.png", state_, now_)->is_news);
  EXPECT_FALSE(record.held_until("a.png", state_, now_)->is_news);
}

TEST_F(StallRecordTest, a_clock_that_was_set_back_holds_nothing) {
  stall("a.png", 2);
  now_ -= hours(1000);
  EXPECT_EQ(wait_of("a.png"), minutes(0));
}

TEST_F(StallRecordTest, any_name_is_kept_as_it_is) {
  for (const char* name : {" a b.png", "a\nb.png", "\xff\xfe.png", "d/1 2 3.png"}) {
    stall(name, 2);
    EXPECT_EQ(wait_of(name), minutes(10)) << name;
  }
}

TEST_F(StallRecordTest, what_is_no_record_is_nothing) {
  std::ofstream(file_) << std::string("x\0\0 1 2\0003 4 5 6 7", 16);
  EXPECT_EQ(wait_of("a.png"), minutes(0));
  stall("a.png", 2);
  EXPECT_EQ(wait_of("a.png"), minutes(10));
}

TEST_F(StallRecordTest, says_where_it_cannot_be_written) {
  StallRecord record(folder_.path() / "nowhere" / "stalls");
  EXPECT_THROW(record.add("a.png", state_, now_), EnvironmentError);
}

}  // namespace
}  // namespace eckart::app
