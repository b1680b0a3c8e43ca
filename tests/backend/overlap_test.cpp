#include "tests/support/overlap.hpp"

#include <gtest/gtest.h>

namespace eckart::test {
namespace {

TEST(Overlap, is_idle_without_spans) {
  const Overlap found = measure_overlap({}, 0, 10);
  EXPECT_EQ(found.idle, 1);
  EXPECT_EQ(found.all_busy, 0);
}

TEST(Overlap, measures_concurrent_engines) {
  const Overlap found = measure_overlap({{BusySpan::copy_in, 0, 4},
                                         {BusySpan::compute, 2, 8},
                                         {BusySpan::copy_out, 3, 5},
                                         {BusySpan::copy_out, 7, 9}},
                                        0, 10);
  EXPECT_NEAR(found.busy[BusySpan::copy_in], 0.4, 1e-12);
  EXPECT_NEAR(found.busy[BusySpan::compute], 0.6, 1e-12);
  EXPECT_NEAR(found.busy[BusySpan::copy_out], 0.4, 1e-12);
  EXPECT_NEAR(found.all_busy, 0.1, 1e-12);                 // 3 to 4
  EXPECT_NEAR(found.copying_while_computing, 0.4, 1e-12);  // 2 to 5 and 7 to 8
  EXPECT_NEAR(found.idle, 0.1, 1e-12);                     // 9 to 10
}

TEST(Overlap, merges_overlapping_spans_of_one_engine) {
  const Overlap found =
      measure_overlap({{BusySpan::compute, 0, 6}, {BusySpan::compute, 4, 10}}, 0, 10);
  EXPECT_NEAR(found.busy[BusySpan::compute], 1, 1e-12);
  EXPECT_NEAR(found.idle, 0, 1e-12);
}

TEST(Overlap, ignores_time_outside_the_interval) {
  const Overlap found =
      measure_overlap({{BusySpan::compute, -5, 2}, {BusySpan::copy_in, 9, 30}}, 0, 10);
  EXPECT_NEAR(found.busy[BusySpan::compute], 0.2, 1e-12);
  EXPECT_NEAR(found.busy[BusySpan::copy_in], 0.1, 1e-12);
  EXPECT_NEAR(found.idle, 0.7, 1e-12);
}

}  // namespace
}  // namespace eckart::test
