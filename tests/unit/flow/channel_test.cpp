#include "flow/channel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <latch>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/waiting_thread.hpp"

namespace eckart::flow {
namespace {

using test::WaitingThread;

using namespace std::chrono_literals;

Channel<int>& fill(Channel<int>& channel) {
  for (int i = 0; i < int(channel.capacity()); ++i) channel.push(int(i));
  return channel;
}

TEST(Channel, keeps_the_order_of_one_producer) {
  Channel<int> channel(3);
  WaitingThread producer([&] {
    for (int i = 0; i < 10000; ++i) ASSERT_TRUE(channel.push(int(i)));
    channel.close();
  });
  int expected = 0;
  while (const auto item = channel.pop()) EXPECT_EQ(*item, expected++);
  EXPECT_EQ(expected, 10000);
}

TEST(Channel, takes_groups_of_items_in_order_also_if_they_are_larger_than_its_capacity) {
  Channel<int> channel(3);
  WaitingThread producer([&] {
    for (int first = 0; first < 10000; first += 10) {
      std::vector<int> group(10);
      std::iota(group.begin(), group.end(), first);
      ASSERT_TRUE(channel.push(std::span(group)));
    }
    channel.close();
  });
  int expected = 0;
  while (const auto item = channel.pop()) EXPECT_EQ(*item, expected++);
  EXPECT_EQ(expected, 10000);
}

TEST(Channel, leaves_what_it_did_not_take_of_a_group_when_it_is_closed) {
  Channel<std::unique_ptr<int>> channel(2);
  std::vector<std::unique_ptr<int>> group;
  for (int i = 0; i < 5; ++i) group.push_back(std::make_unique<int>(i));
  WaitingThread producer([&] { EXPECT_FALSE(channel.push(std::span(group))); });
  ASSERT_TRUE(producer.wait_until_asleep());
  channel.close();
  producer.join();
  EXPECT_EQ(**channel.pop(), 0);
  EXPECT_EQ(**channel.pop(), 1);
  EXPECT_EQ(channel.pop(), std::nullopt);
  EXPECT_TRUE(group[2] && group[3] && group[4]);
}

TEST(Channel, lets_a_producer_get_ahead_by_at_most_the_capacity) {
  Channel<int> channel(4);
  std::atomic<int> started_pops = 0;
  WaitingThread producer([&] {
    for (int pushed = 1; pushed <= 10000; ++pushed) {
      channel.push(int(pushed));
      ASSERT_LE(pushed - started_pops, 4);
    }
  });
  for (int i = 0; i < 10000; ++i) {
    ++started_pops;
    channel.pop();
  }
}

TEST(Channel, blocks_a_producer_when_full_until_an_item_leaves) {
  Channel<int> channel(2);
  fill(channel);
  std::atomic<bool> pushed = false;
  WaitingThread producer([&] { pushed = channel.push(2); });
  ASSERT_TRUE(producer.wait_until_asleep());
  EXPECT_FALSE(pushed);
  EXPECT_EQ(channel.size(), 2u);
  EXPECT_EQ(channel.pop(), 0);
  producer.join();
  EXPECT_TRUE(pushed);
  EXPECT_EQ(*channel.pop() + *channel.pop(), 3) << "in whichever order: two producers";
}

TEST(Channel, wakes_a_producer_when_an_eighth_of_the_capacity_is_free) {
  Channel<int> channel(16);
  fill(channel);
  std::atomic<bool> pushed = false;
  WaitingThread producer([&] { pushed = channel.push(16); });
  ASSERT_TRUE(producer.wait_until_asleep());
  channel.pop();
  EXPECT_FALSE(pushed);
  channel.pop();
  producer.join();
  EXPECT_TRUE(pushed);
}

TEST(Channel, has_capacity_of_at_least_one) {
  Channel<int> channel(0);
  EXPECT_EQ(channel.capacity(), 1u);
  EXPECT_TRUE(channel.push(7));
  EXPECT_EQ(channel.pop(), 7);
}

TEST(Channel, wakes_every_producer_on_close_while_full_and_takes_no_item) {
  Channel<std::unique_ptr<int>> channel(1);
  ASSERT_TRUE(channel.push(std::make_unique<int>(0)));
  std::atomic<int> unchanged_items = 0;
  const auto body = [&] {
    auto item = std::make_unique<int>(1);
    if (!channel.push(std::move(item)) && item && *item == 1) ++unchanged_items;
  };
  {
    WaitingThread first(body), second(body), third(body);
    ASSERT_TRUE(first.wait_until_asleep());
    ASSERT_TRUE(second.wait_until_asleep());
    ASSERT_TRUE(third.wait_until_asleep());
    channel.close();
  }
  EXPECT_EQ(unchanged_items, 3);
  EXPECT_EQ(channel.size(), 1u);
}

TEST(Channel, wakes_every_consumer_on_close_while_empty) {
  Channel<int> channel(1);
  std::atomic<int> ended = 0;
  const auto body = [&] {
    if (!channel.pop()) ++ended;
  };
  {
    WaitingThread first(body), second(body), third(body);
    ASSERT_TRUE(first.wait_until_asleep());
    ASSERT_TRUE(second.wait_until_asleep());
    ASSERT_TRUE(third.wait_until_asleep());
    channel.close();
  }
  EXPECT_EQ(ended, 3);
}

TEST(Channel, wakes_a_consumer_with_a_timeout_on_close) {
  Channel<int> channel(1);
  WaitingThread consumer([&] { EXPECT_FALSE(channel.pop_for(24h)); });
  ASSERT_TRUE(consumer.wait_until_asleep());
  channel.close();
}

TEST(Channel, drains_the_remaining_items_on_close) {
  Channel<int> channel(3);
  fill(channel).close();
  EXPECT_FALSE(channel.push(9));
  EXPECT_FALSE(channel.is_finished());
  EXPECT_EQ(channel.pop(), 0);
  EXPECT_EQ(channel.pop_for(1h), 1);
  EXPECT_EQ(channel.try_pop(), 2);
  EXPECT_TRUE(channel.is_finished());
  EXPECT_EQ(channel.pop(), std::nullopt);
  EXPECT_EQ(channel.pop_for(1h), std::nullopt);
  EXPECT_EQ(channel.try_pop(), std::nullopt);
}

TEST(Channel, discards_the_remaining_items_on_cancel) {
  Channel<int> channel(3);
  fill(channel).cancel();
  EXPECT_TRUE(channel.is_finished());
  EXPECT_FALSE(channel.push(9));
  EXPECT_EQ(channel.pop(), std::nullopt);
  EXPECT_EQ(channel.try_pop(), std::nullopt);
}

TEST(Channel, discards_the_rest_on_cancel_after_close) {
  Channel<int> channel(3);
  fill(channel).close();
  EXPECT_EQ(channel.pop(), 0);
  channel.cancel();
  EXPECT_EQ(channel.pop(), std::nullopt);
}

TEST(Channel, wakes_producers_and_consumers_on_cancel) {
  Channel<int> full(1), empty(1);
  fill(full);
  WaitingThread producer([&] { EXPECT_FALSE(full.push(1)); });
  WaitingThread consumer([&] { EXPECT_FALSE(empty.pop()); });
  ASSERT_TRUE(producer.wait_until_asleep());
  ASSERT_TRUE(consumer.wait_until_asleep());
  full.cancel();
  empty.cancel();
}

TEST(Channel, can_be_closed_twice) {
  Channel<int> channel(2);
  fill(channel);
  for (int i = 0; i < 5; ++i) channel.close();
  EXPECT_EQ(channel.pop(), 0);
  channel.close();
  EXPECT_EQ(channel.pop(), 1);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(channel.pop(), std::nullopt);
}

TEST(Channel, returns_nothing_to_a_waiting_consumer_when_interrupted) {
  Channel<int> channel(1);
  WaitingThread consumer([&] { EXPECT_FALSE(channel.pop()); });
  ASSERT_TRUE(consumer.wait_until_asleep());
  channel.interrupt();
  consumer.join();
  EXPECT_FALSE(channel.is_finished());
}

TEST(Channel, remembers_one_interrupt_for_the_next_pop) {
  Channel<int> channel(2);
  fill(channel);
  channel.interrupt();
  channel.interrupt();
  EXPECT_EQ(channel.pop(), std::nullopt);
  EXPECT_EQ(channel.pop(), 0);
  EXPECT_EQ(channel.pop(), 1);
  EXPECT_EQ(channel.try_pop(), std::nullopt);
}

TEST(Channel, gives_a_consumer_the_items_of_one_producer_in_order_and_then_those_of_others) {
  constexpr int kItems = 1024;
  Channel<int> channel(std::size_t(2) * kItems);
  std::latch pushed(2), consumed(1);  // threads that have ended would count as one producer
  std::vector<std::jthread> producers;
  for (int producer = 0; producer < 2; ++producer) {
    producers.emplace_back([&, producer] {
      std::vector<int> items(kItems);
      std::iota(items.begin(), items.end(), producer * kItems);
      EXPECT_TRUE(channel.push(std::span(items)));
      pushed.count_down();
      consumed.wait();
    });
  }
  pushed.wait();
  Channel<int>::Consumer consumer(channel);
  std::vector<int> counts(2);
  int run = 0, longest = 0, shortest = kItems, last = -1;
  for (int i = 0; i < 2 * kItems; ++i) {
    const int item = i % 2 == 0 ? consumer.pop().value() : consumer.try_pop().value();
    const int producer = item / kItems;
    EXPECT_EQ(item % kItems, counts[std::size_t(producer)]++);
    const bool is_next = item == last + 1 && producer == last / kItems;
    if (!is_next && i > 0) shortest = std::min(shortest, std::exchange(run, 0));
    longest = std::max(longest, ++run);
    last = item;
  }
  consumed.count_down();
  EXPECT_GE(shortest, 16) << "neighbors stay together";
  EXPECT_LE(longest, 64) << "no producer waits long; only the other's last items are more";
  EXPECT_EQ(consumer.try_pop(), std::nullopt);
  channel.close();
  EXPECT_EQ(consumer.pop(), std::nullopt);
  EXPECT_EQ(channel.pop(), std::nullopt) << "the end is passed on";
}

TEST(Channel, loses_no_item_when_interrupted) {
  constexpr int kItems = 10000;
  Channel<int> channel(3);
  WaitingThread producer([&] {
    for (int i = 0; i < kItems; ++i) channel.push(int(i));
    channel.close();
  });
  WaitingThread interrupter([&] {
    while (!channel.is_finished()) channel.interrupt();
  });
  int expected = 0;
  while (!channel.is_finished()) {
    if (const auto item = channel.pop()) {
      EXPECT_EQ(*item, expected++);
    }
  }
  EXPECT_EQ(expected, kItems);
}

TEST(Channel, times_out_no_earlier_than_requested_and_loses_nothing) {
  Channel<int> channel(1);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(channel.pop_for(20ms), std::nullopt);
  EXPECT_GE(std::chrono::steady_clock::now() - start, 19ms);
  EXPECT_FALSE(channel.is_finished());
  channel.push(1);
  EXPECT_EQ(channel.pop_for(1h), 1);
}

TEST(Channel, takes_only_present_items_if_the_timeout_is_zero) {
  Channel<int> channel(1);
  EXPECT_EQ(channel.pop_for(0ms), std::nullopt);
  EXPECT_EQ(channel.pop_for(-5ms), std::nullopt);
  channel.push(1);
  EXPECT_EQ(channel.pop_for(-5ms), 1);
}

TEST(Channel, wakes_a_waiting_consumer_for_an_item) {
  Channel<int> channel(1);
  WaitingThread consumer([&] { EXPECT_EQ(channel.pop(), 5); });
  ASSERT_TRUE(consumer.wait_until_asleep());
  channel.push(5);
}

TEST(Channel, carries_move_only_items_and_destroys_those_left_inside) {
  const auto witness = std::make_shared<int>(1);
  struct Item {
    std::unique_ptr<std::shared_ptr<int>> owned;
  };
  {
    Channel<Item> channel(3);
    for (int i = 0; i < 3; ++i) channel.push({std::make_unique<std::shared_ptr<int>>(witness)});
    EXPECT_EQ(**channel.pop()->owned, 1);
    EXPECT_EQ(witness.use_count(), 3);
  }
  EXPECT_EQ(witness.use_count(), 1);
}

}  // namespace
}  // namespace eckart::flow
