#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "flow/channel.hpp"
#include "tests/support/random_delay.hpp"

namespace eckart::flow {
namespace {

using namespace std::chrono_literals;

/// A channel that can delay every call, before it and after it.
class DelayedChannel : public Channel<int> {
 public:
  DelayedChannel(std::size_t capacity, bool is_delayed)
      : Channel(capacity), is_delayed_(is_delayed) {}

  bool push(int&& item) {
    const DelayGuard delay_guard(*this);
    return Channel::push(std::move(item));
  }
  std::optional<int> pop() {
    const DelayGuard delay_guard(*this);
    return Channel::pop();
  }
  std::optional<int> pop_for(std::chrono::microseconds timeout) {
    const DelayGuard delay_guard(*this);
    return Channel::pop_for(timeout);
  }
  void close() {
    const DelayGuard delay_guard(*this);
    Channel::close();
  }
  void cancel() {
    const DelayGuard delay_guard(*this);
    Channel::cancel();
  }

 private:
  struct DelayGuard {
    explicit DelayGuard(DelayedChannel& delayed) : channel(delayed), number(delayed.calls_++) {
      delay(0);
    }
    ~DelayGuard() { delay(1); }
    DelayGuard(const DelayGuard&) = delete;
    DelayGuard& operator=(const DelayGuard&) = delete;
    void delay(int point) const {
      if (channel.is_delayed_) channel.delay_(number, point);
    }
    DelayedChannel& channel;
    const int number;
  };

  const bool is_delayed_;
  const test::RandomDelay delay_{1};
  std::atomic<int> calls_ = 0;
};

struct Count {
  std::atomic<long> items = 0;
  std::atomic<long> sum = 0;
  void add(int item) {
    ++items;
    sum += item;
  }
};

/// Counts the items that channels accepted and returned. Each round has a new channel; the threads
/// are started once.
struct Race {
  /// The work of one thread in one round.
  using Part = std::function<void(DelayedChannel&, Count&, int round)>;

  int rounds = 0;
  int producers = 0;
  int consumers = 0;
  std::size_t capacity = 1;
  bool is_delayed = false;
  Count accepted = {};
  Count popped = {};

  void run(const Part& push, const Part& pop) {
    std::vector<std::unique_ptr<DelayedChannel>> channels;
    for (int i = 0; i < rounds; ++i)
      channels.push_back(std::make_unique<DelayedChannel>(capacity, is_delayed));
    std::barrier start(producers + consumers);
    const auto body = [&](const Part& part, Count& count) {
      for (int round = 0; round < rounds; ++round) {
        start.arrive_and_wait();
        part(*channels[std::size_t(round)], count, round);
      }
    };
    std::vector<std::thread> threads;
    for (int i = 0; i < producers; ++i) threads.emplace_back([&] { body(push, accepted); });
    for (int i = 0; i < consumers; ++i) threads.emplace_back([&] { body(pop, popped); });
    for (std::thread& thread : threads) thread.join();
    for (const auto& channel : channels) EXPECT_TRUE(channel->is_finished());
  }
};

/// Pushes until the channel is closed. The first producer that has pushed its share closes it.
void push_and_close(DelayedChannel& channel, Count& accepted, int round) {
  const int share = round % 20;
  for (int i = 1; channel.push(int(i)); ++i) {
    accepted.add(i);
    if (i > share) channel.close();
  }
}

void pop_until_finished(DelayedChannel& channel, Count& popped, int) {
  while (const auto item = channel.pop()) popped.add(*item);
}

/// Pops as the writers do.
void consume_until_finished(DelayedChannel& channel, Count& popped, int) {
  DelayedChannel::Consumer consumer(channel);
  for (;;) {
    auto item = consumer.try_pop();
    if (!item) item = consumer.pop();
    if (!item) return;
    popped.add(*item);
  }
}

/// Pops as the batch stage does: with a timeout, until the channel is finished.
void poll_until_finished(DelayedChannel& channel, Count& popped, int) {
  while (!channel.is_finished()) {
    if (const auto item = channel.pop_for(1us)) popped.add(*item);
  }
}

TEST(ChannelRace, loses_no_accepted_item_when_close_races_with_pushes) {
  for (const auto& pop : {pop_until_finished, consume_until_finished}) {
    for (const std::size_t capacity : {1, 2, 64}) {
      Race race{.rounds = 2000, .producers = 3, .consumers = 3, .capacity = capacity};
      race.run(push_and_close, pop);
      EXPECT_GE(race.accepted.items, race.rounds);
      EXPECT_EQ(race.popped.items, race.accepted.items);
      EXPECT_EQ(race.popped.sum, race.accepted.sum);
    }
  }
}

TEST(ChannelRace, loses_no_accepted_item_with_polling_consumers) {
  Race race{.rounds = 2000, .producers = 3, .consumers = 1, .capacity = 2};
  race.run(push_and_close, poll_until_finished);
  EXPECT_EQ(race.popped.items, race.accepted.items);
  EXPECT_EQ(race.popped.sum, race.accepted.sum);
}

TEST(ChannelRace, loses_no_accepted_item_when_threads_stall) {
  for (const auto& pop : {pop_until_finished, consume_until_finished, poll_until_finished}) {
    Race race{.rounds = 300, .producers = 3, .consumers = 3, .capacity = 2, .is_delayed = true};
    race.run(push_and_close, pop);
    EXPECT_EQ(race.popped.items, race.accepted.items);
    EXPECT_EQ(race.popped.sum, race.accepted.sum);
  }
}

TEST(ChannelRace, delivers_an_item_pushed_while_closing_only_if_accepted) {
  for (const auto& pop : {pop_until_finished, consume_until_finished}) {
    Race race{.rounds = 5000, .producers = 1, .consumers = 2, .capacity = 1};
    race.run(
        [](DelayedChannel& channel, Count& accepted, int) {
          if (channel.push(1)) accepted.add(1);
        },
        [&](DelayedChannel& channel, Count& popped, int round) {
          channel.close();
          pop(channel, popped, round);
        });
    EXPECT_EQ(race.popped.items, race.accepted.items);
  }
}

TEST(ChannelRace, delivers_every_item_of_many_producers_to_one_consumer) {
  constexpr int kItems = 20000;
  Race race{.rounds = 1, .producers = 4, .consumers = 4, .capacity = 8};
  std::atomic<int> producing = race.producers;
  race.run(
      [&](DelayedChannel& channel, Count& accepted, int) {
        for (int i = 1; i <= kItems; ++i) {
          ASSERT_TRUE(channel.push(int(i)));
          accepted.add(i);
        }
        if (--producing == 0) channel.close();
      },
      pop_until_finished);
  EXPECT_EQ(race.accepted.items, 4 * kItems);
  EXPECT_EQ(race.popped.items, race.accepted.items);
  EXPECT_EQ(race.popped.sum, race.accepted.sum);
}

TEST(ChannelRace, ends_every_thread_on_cancel_and_delivers_nothing_twice) {
  for (const auto& pop : {pop_until_finished, consume_until_finished}) {
    Race race{.rounds = 2000, .producers = 3, .consumers = 3, .capacity = 4};
    race.run(
        [](DelayedChannel& channel, Count& accepted, int round) {
          for (int i = 1; channel.push(int(i)); ++i) {
            accepted.add(i);
            if (i > round % 20) channel.cancel();
          }
        },
        pop);
    EXPECT_LE(race.popped.items, race.accepted.items);
  }
}

}  // namespace
}  // namespace eckart::flow
