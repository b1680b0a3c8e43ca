#include "app/retry_backoff.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "core/instant.hpp"

namespace eckart::app {
namespace {

using namespace std::chrono_literals;
using Time = Instant;

constexpr files::FileState kState{10, 20, 30};

/// Restoring the file looks like a change, so that the file arrives again and again.
TEST(RetryBackoff, limits_retries_to_the_backoff) {
  RetryBackoff backoff;
  int tries = 0;
  std::vector<std::chrono::milliseconds> waits;
  Time last{};
  for (Time now{1h}; now < Time{1h + 10min}; now += 20ms) {
    if (!backoff.is_due("in/a.png", kState, now)) continue;
    if (++tries > 1)
      waits.push_back(std::chrono::duration_cast<std::chrono::milliseconds>(now - last));
    last = now;
    backoff.delay_retry("in/a.png", kState, now);
  }
  EXPECT_LE(tries, 26) << "1, 2, 4, 8, 16 s, and then each 30 s";
  EXPECT_GE(tries, 20);
  ASSERT_GE(waits.size(), 7u);
  EXPECT_EQ(waits[0], 1s);
  EXPECT_EQ(waits[1], 2s);
  EXPECT_EQ(waits[6], 30s);
}

TEST(RetryBackoff, retries_at_once_when_changed_or_forgotten) {
  RetryBackoff backoff;
  const Time now{1h};
  backoff.delay_retry("in/a.png", kState, now);
  EXPECT_FALSE(backoff.is_due("in/a.png", kState, now));
  EXPECT_TRUE(backoff.is_due("in/b.png", kState, now));
  EXPECT_TRUE(backoff.is_due("in/a.png", {11, 20, 30}, now));
  backoff.delay_retry("in/a.png", {11, 20, 30}, now);
  EXPECT_TRUE(backoff.is_due("in/a.png", {11, 20, 30}, now + 1s)) << "as at the first time";
  backoff.delay_retry("in/a.png", kState, now);
  backoff.forget("in/a.png");
  EXPECT_TRUE(backoff.is_due("in/a.png", kState, now));
}

}  // namespace
}  // namespace eckart::app
