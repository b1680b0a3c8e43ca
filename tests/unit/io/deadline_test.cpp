#include "io/deadline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "tests/unit/io/item_error.hpp"

namespace eckart::io {
namespace {

bool passes_within(Deadline& deadline, std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
    if (deadline.passed()) return true;
  }
  return false;
}

TEST(Deadline, PassesOnceTheThreadHasComputedThatLong) {
  Deadline deadline(1);
  EXPECT_FALSE(passes_within(deadline, std::chrono::milliseconds(500)));
  EXPECT_TRUE(passes_within(deadline, std::chrono::minutes(1)));
  EXPECT_TRUE(deadline.passed());
}

TEST(Deadline, TimeWithoutACoreDoesNotCount) {
  Deadline deadline(1);
  std::this_thread::sleep_for(std::chrono::milliseconds(1200));
  EXPECT_FALSE(passes_within(deadline, std::chrono::milliseconds(100)));
}

TEST(Deadline, OfNoTimeHasPassed) { EXPECT_TRUE(Deadline(0).passed()); }

TEST(Deadline, RefusesWithTheLimitAndItsKey) {
  const test::Failure failure = test::failure_of([] { Deadline(3).refuse(); });
  EXPECT_EQ(failure.reason, Reason::too_large);
  EXPECT_THAT(failure.detail, testing::EndsWith("over limits.decode_s = 3"));
}

}  // namespace
}  // namespace eckart::io
