#include "app/message_prefetch.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace eckart::app {
namespace {

using namespace std::chrono_literals;

constexpr Instant kBegin = Instant(1000s);

/// Finishes messages one after the other that were held for `held`, until the prefetch changes.
/// Returns how many.
int finish_until_change(MessagePrefetch& prefetch, Instant& now, Clock::duration held, int max) {
  for (int count = 1; count <= max; ++count) {
    now += held;
    if (prefetch.on_finished(now - held, now)) return count;
  }
  return 0;
}

TEST(MessagePrefetch, grows_after_as_many_quick_messages) {
  MessagePrefetch prefetch(20);
  Instant now = kBegin;
  EXPECT_EQ(finish_until_change(prefetch, now, 1s, 100), 2);
  EXPECT_EQ(prefetch.value(), 8);
  EXPECT_EQ(finish_until_change(prefetch, now, 1s, 100), 8);
  EXPECT_EQ(prefetch.value(), 20);
  EXPECT_EQ(finish_until_change(prefetch, now, 1s, 100), 0);
}

TEST(MessagePrefetch, is_halved_by_a_message_that_was_held_long) {
  MessagePrefetch prefetch(20);
  Instant now = kBegin;
  ASSERT_EQ(finish_until_change(prefetch, now, 1s, 100), 2);
  EXPECT_EQ(finish_until_change(prefetch, now, 30s, 1), 1);
  EXPECT_EQ(prefetch.value(), 4);
  EXPECT_EQ(finish_until_change(prefetch, now, 30min, 1), 1);
  EXPECT_EQ(prefetch.value(), 2);
  EXPECT_EQ(finish_until_change(prefetch, now, 30min, 9), 0);
  EXPECT_EQ(prefetch.value(), MessagePrefetch::kMin);
}

TEST(MessagePrefetch, stays_while_messages_are_held_for_some_seconds) {
  MessagePrefetch prefetch(20);
  Instant now = kBegin;
  EXPECT_EQ(finish_until_change(prefetch, now, 10s, 100), 0);
}

TEST(MessagePrefetch, ignores_messages_received_before_its_last_change) {
  MessagePrefetch prefetch(20);
  Instant now = kBegin;
  ASSERT_EQ(finish_until_change(prefetch, now, 1s, 100), 2);
  EXPECT_TRUE(prefetch.on_finished(now, now + 30s));
  for (int i = 1; i < 8; ++i) EXPECT_FALSE(prefetch.on_finished(now, now + 31s));
  EXPECT_EQ(prefetch.value(), 4);
}

}  // namespace
}  // namespace eckart::app
