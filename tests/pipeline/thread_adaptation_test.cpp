#include "pipeline/thread_adaptation.hpp"

#include <gtest/gtest.h>

namespace eckart::pipeline {
namespace {

class ThreadAdaptationTest : public testing::Test {
 protected:
  /// Lets a second pass in which the threads were busy for this share of their time, took so many
  /// images and used `cores` of eight cores.
  int pass(double busy, double cores, std::int64_t images) {
    return threads_ = adaptation_.update({.seconds = 1,
                                          .images = images,
                                          .busy_s = busy * threads_,
                                          .thread_s = double(threads_),
                                          .core_s = cores});
  }
  /// A stage that waits for a disk which serves any number of threads.
  int pass_slow_disk() { return pass(1, 1, std::int64_t(100) * threads_); }

  int threads_ = 4;
  ThreadAdaptation adaptation_{4, 16, 8};
};

TEST_F(ThreadAdaptationTest, adds_threads_while_all_are_busy_and_cores_are_free) {
  EXPECT_EQ(pass_slow_disk(), 6);
  EXPECT_EQ(pass_slow_disk(), 9);
  for (int second = 0; second < 20; ++second) pass_slow_disk();
  EXPECT_EQ(threads_, 16) << "the most";
}

TEST_F(ThreadAdaptationTest, adds_none_if_the_cores_are_in_use) { EXPECT_EQ(pass(1, 7, 400), 4); }

TEST_F(ThreadAdaptationTest, adds_none_if_some_threads_have_no_work) {
  EXPECT_EQ(pass(0.8, 1, 400), 4);
}

TEST_F(ThreadAdaptationTest, takes_threads_away_that_made_nothing_faster) {
  EXPECT_EQ(pass(1, 1, 400), 6);
  EXPECT_EQ(pass(1, 1, 410), 4) << "they wait for each other";
}

TEST_F(ThreadAdaptationTest, tries_again_later_and_ever_less_often) {
  const auto seconds_until_trial = [this] {
    int seconds = 0;
    do {
      ++seconds;
    } while (pass(1, 1, 400) == 4);
    return seconds;
  };
  EXPECT_EQ(seconds_until_trial(), 1);
  const int first = seconds_until_trial(), second = seconds_until_trial();
  EXPECT_GT(first, 4);
  EXPECT_GT(second, first);
}

TEST_F(ThreadAdaptationTest, takes_threads_away_that_have_no_work_but_keeps_the_first_ones) {
  for (int second = 0; second < 4; ++second) pass_slow_disk();
  const int most = threads_;
  EXPECT_EQ(pass(0.3, 1, 100), most - 1);
  for (int second = 0; second < 20; ++second) pass(0, 0, 0);
  EXPECT_EQ(threads_, 4);
}

TEST_F(ThreadAdaptationTest, waits_for_enough_images_or_a_second) {
  EXPECT_FALSE(adaptation_.is_long_enough({.seconds = 0.1, .images = 10}));
  EXPECT_TRUE(adaptation_.is_long_enough({.seconds = 0.1, .images = 1000}));
  EXPECT_TRUE(adaptation_.is_long_enough({.seconds = 1, .images = 0})) << "all wait for the disk";
}

}  // namespace
}  // namespace eckart::pipeline
