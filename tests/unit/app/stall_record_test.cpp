#include "app/stall_record.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

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
    // A new process each time.
    for (int i = 0; i < times; ++i) StallRecord(file_).add(name, state_, now_);
  }
  /// Returns how long the input is held.
  minutes hold_of(const std::string& name) {
    const auto hold = StallRecord(file_).find_hold(name, state_, now_);
    return hold ? std::chrono::ceil<minutes>(hold->until - now_) : minutes(0);
  }

  const test::TempFolder folder_;
  const std::filesystem::path file_ = folder_.path() / "stalls";
  files::FileState state_{.size = 1000, .mtime_ns = 123, .inode = 7};
  StallRecord::Time now_{hours(500000)};
};

TEST_F(StallRecordTest, holds_an_input_from_its_second_stall_on_with_doubling_time) {
  EXPECT_EQ(hold_of("a.png"), minutes(0));
  stall("a.png");
  EXPECT_EQ(hold_of("a.png"), minutes(0));
  stall("a.png");
  EXPECT_EQ(hold_of("a.png"), minutes(10));
  stall("a.png");
  EXPECT_EQ(hold_of("a.png"), minutes(20));
  stall("a.png", 50);
  EXPECT_EQ(hold_of("a.png"), hours(24));
  now_ += hours(24);
  EXPECT_EQ(hold_of("a.png"), minutes(0));
  EXPECT_EQ(hold_of("b.png"), minutes(0));
}

TEST_F(StallRecordTest, replaces_a_pipe_or_a_link_without_using_it) {
  std::ofstream(folder_.path() / "foreign") << "theirs";
  ASSERT_EQ(::mkfifo(file_.c_str(), 0600), 0);
  std::filesystem::create_symlink("foreign", folder_.path() / "stalls.new");
  stall("a.png", 2);
  EXPECT_EQ(hold_of("a.png"), minutes(10));
  EXPECT_EQ(std::filesystem::file_size(folder_.path() / "foreign"), 6u);
}

TEST_F(StallRecordTest, replaces_a_huge_file_without_reading_it) {
  std::ofstream(file_).close();
  std::filesystem::resize_file(file_, std::uintmax_t(1) << 40);
  stall("a.png", 2);
  EXPECT_EQ(hold_of("a.png"), minutes(10));
  EXPECT_LT(std::filesystem::file_size(file_), 1000u);
}

TEST_F(StallRecordTest, does_not_hold_a_changed_file) {
  stall("a.png", 3);
  ++state_.size;
  EXPECT_EQ(hold_of("a.png"), minutes(0));
  stall("a.png");
  EXPECT_EQ(hold_of("a.png"), minutes(0));
}

TEST_F(StallRecordTest, forgets_a_done_file) {
  stall("a.png", 2);
  stall("b.png", 2);
  StallRecord record(file_);
  EXPECT_TRUE(record.find_hold("a.png", state_, now_));
  record.forget("a.png");
  EXPECT_EQ(hold_of("a.png"), minutes(0));
  EXPECT_EQ(hold_of("b.png"), minutes(10));
}

TEST_F(StallRecordTest, marks_only_the_first_hold_as_new) {
  stall("a.png", 2);
  StallRecord record(file_);
  EXPECT_TRUE(record.find_hold("a.png", state_, now_)->is_first);
  EXPECT_FALSE(record.find_hold("a.png", state_, now_)->is_first);
}

TEST_F(StallRecordTest, holds_nothing_after_the_clock_was_set_back) {
  stall("a.png", 2);
  now_ -= hours(1000);
  EXPECT_EQ(hold_of("a.png"), minutes(0));
}

TEST_F(StallRecordTest, keeps_any_file_name) {
  for (const char* name : {" a b.png", "a\nb.png", "\xff\xfe.png", "d/1 2 3.png"}) {
    stall(name, 2);
    EXPECT_EQ(hold_of(name), minutes(10)) << name;
  }
}

TEST_F(StallRecordTest, ignores_invalid_records) {
  std::ofstream(file_) << std::string("x\0\0 1 2\0003 4 5 6 7", 16);
  EXPECT_EQ(hold_of("a.png"), minutes(0));
  stall("a.png", 2);
  EXPECT_EQ(hold_of("a.png"), minutes(10));
}

TEST_F(StallRecordTest, keeps_the_last_1000_inputs) {
  const auto start_s =
      std::chrono::duration_cast<std::chrono::seconds>(now_.time_since_epoch()).count();
  {
    std::ofstream file(file_, std::ios::binary);
    for (int i = 0; i < 1000; ++i)
      file << "2 " << start_s - 6 + i % 7 << " 1000 123 7 " << i + 1000 << '\0';
  }
  StallRecord record(file_);
  EXPECT_TRUE(record.find_hold("1000", state_, now_));
  record.add("new", state_, now_);
  EXPECT_FALSE(record.find_hold("1000", state_, now_)) << "the oldest";
  for (const char* name : {"1001", "1006", "1999"})
    EXPECT_TRUE(record.find_hold(name, state_, now_)) << name;
  record.add("new", state_, now_);
  EXPECT_TRUE(record.find_hold("new", state_, now_));
}

TEST_F(StallRecordTest, throws_when_it_cannot_be_written) {
  StallRecord record(folder_.path() / "nowhere" / "stalls");
  EXPECT_THROW(record.add("a.png", state_, now_), EnvironmentError);
}

}  // namespace
}  // namespace eckart::app
