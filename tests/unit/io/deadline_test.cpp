#include "io/deadline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "tests/unit/io/failure_of.hpp"

namespace eckart::io {
namespace {

bool passes_within(Deadline& deadline, std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
    if (deadline.passed()) return true;
  }
  return false;
}

TEST(Deadline, passes_after_that_much_thread_time) {
  Deadline deadline(1);
  EXPECT_FALSE(passes_within(deadline, std::chrono::milliseconds(500)));
  EXPECT_TRUE(passes_within(deadline, std::chrono::minutes(1)));
  EXPECT_TRUE(deadline.passed());
}

TEST(Deadline, ignores_time_without_a_core) {
  Deadline deadline(1);
  std::this_thread::sleep_for(std::chrono::milliseconds(1200));
  EXPECT_FALSE(passes_within(deadline, std::chrono::milliseconds(100)));
}

TEST(Deadline, has_passed_at_once_for_zero_seconds) { EXPECT_TRUE(Deadline(0).passed()); }

TEST(Deadline, names_the_limit_and_its_key) {
  const test::CaughtError failure = test::failure_of([] { Deadline(3).throw_too_large(); });
  EXPECT_EQ(failure.reason, FailureReason::too_large);
  EXPECT_THAT(failure.detail, testing::EndsWith("than limits.decode_s = 3"));
}

}  // namespace
}  // namespace eckart::io
