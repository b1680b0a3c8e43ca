#include "codec/deadline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <thread>

#include "tests/unit/codec/failure_of.hpp"

namespace eckart::codec {
namespace {

std::int64_t now_ns = 0;
std::int64_t read_now() { return now_ns; }

/// Asked as often as it takes to look at the clock.
bool has_passed(Deadline& deadline) {
  for (int i = 0; i < 16; ++i) {
    if (deadline.passed()) return true;
  }
  return false;
}

TEST(Deadline, passes_after_its_time) {
  now_ns = 5;
  Deadline deadline(2, &read_now);
  EXPECT_FALSE(has_passed(deadline));
  now_ns = 2'000'000'004;
  EXPECT_FALSE(has_passed(deadline));
  now_ns = 2'000'000'005;
  EXPECT_TRUE(has_passed(deadline));
  now_ns = 0;
  EXPECT_TRUE(deadline.passed()) << "and stays so";
}

TEST(Deadline, knows_how_much_time_is_left) {
  now_ns = 5;
  Deadline deadline(2, &read_now);
  EXPECT_TRUE(deadline.has_left(2'000'000'000));
  EXPECT_FALSE(deadline.has_left(2'000'000'001));
  now_ns = 1'000'000'006;
  EXPECT_FALSE(deadline.has_left(1'000'000'000));
  EXPECT_FALSE(Deadline(0, &read_now).has_left(0));
}

/// This thread waits while another one computes: most of that time is not this thread's.
TEST(Deadline, excludes_time_without_a_core_from_thread_time) {
  constexpr std::int64_t kWork_ns = 50'000'000;
  const std::int64_t start = Deadline::thread_time_ns();
  std::thread([] {
    const std::int64_t end = Deadline::thread_time_ns() + kWork_ns;
    while (Deadline::thread_time_ns() < end) {
    }
  }).join();
  EXPECT_LT(Deadline::thread_time_ns() - start, kWork_ns);
}

TEST(Deadline, has_passed_at_once_for_zero_seconds) { EXPECT_TRUE(Deadline(0).passed()); }

TEST(Deadline, names_the_limit_and_its_key) {
  const test::CaughtError failure = test::failure_of([] { Deadline(3).throw_too_large(); });
  EXPECT_EQ(failure.reason, FailureReason::too_large);
  EXPECT_THAT(failure.detail, testing::EndsWith("than limits.decode_s = 3"));
}

}  // namespace
}  // namespace eckart::codec
