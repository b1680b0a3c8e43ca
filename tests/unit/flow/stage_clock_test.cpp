#include "flow/stage_clock.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <thread>
#include <vector>

namespace eckart::flow {
namespace {

using State = StageClock::State;

double now_s() {
  return std::chrono::duration<double>(StageClock::Clock::now().time_since_epoch()).count();
}

/// Waits until the clock has advanced by `seconds`.
void wait_for(double seconds) {
  const double end = now_s() + seconds;
  while (now_s() < end) std::this_thread::yield();
}

TEST(StageClock, counts_at_least_the_time_spent_in_each_state) {
  StageClock clock(1);
  {
    StageClock::Worker worker(clock, 0);
    wait_for(0.001);
    worker.measure_wait(State::waiting_for_input, [] { wait_for(0.002); });
    worker.measure_wait(State::blocked, [] { wait_for(0.003); });
  }
  const StageTimes times = clock.times();
  EXPECT_GE(times.busy_s, 0.001 - 1e-6);
  EXPECT_GE(times.waiting_for_input_s, 0.002 - 1e-6);
  EXPECT_GE(times.blocked_s, 0.003 - 1e-6);
}

TEST(StageClock, sums_times_over_the_workers) {
  constexpr int kWorkers = 3;
  StageClock clock(kWorkers);
  std::vector<std::thread> threads;
  for (int i = 0; i < kWorkers; ++i) {
    threads.emplace_back([&, i] {
      StageClock::Worker worker(clock, i);
      worker.measure_wait(State::waiting_for_input, [] { wait_for(0.002); });
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(clock.times().workers, kWorkers);
  EXPECT_GE(clock.times().waiting_for_input_s, kWorkers * 0.002 - 1e-6);
}

TEST(StageClock, does_not_count_the_time_in_which_a_worker_was_absent) {
  StageClock clock(1, 3);
  EXPECT_EQ(clock.times().workers, 1);
  wait_for(0.002);
  {
    StageClock::Worker added(clock, 1);
    EXPECT_EQ(clock.times().workers, 2);
    added.leave();
  }
  const StageTimes left = clock.times();
  wait_for(0.002);
  const StageTimes later = clock.times();
  EXPECT_EQ(later.workers, 1);
  EXPECT_EQ(later.busy_s, left.busy_s) << "the busy time of a worker that left is kept";
  EXPECT_GE(later.waiting_for_input_s, 0.004 - 1e-6) << "of the worker that was there";
  EXPECT_EQ(later.blocked_s, 0);
  StageClock::Worker again(clock, 1);
  EXPECT_EQ(clock.times().workers, 2);
}

TEST(StageClock, adds_up_the_cpu_time_of_threads_that_follow_each_other_as_one_worker) {
  StageClock clock(1);
  std::thread([&] {
    StageClock::Worker worker(clock, 0);
    while (clock.times().cpu_s < 0.005) {
    }
  }).join();
  const double of_the_first_s = clock.times().cpu_s;
  EXPECT_GE(of_the_first_s, 0.005);
  std::thread([&] { StageClock::Worker worker(clock, 0); }).join();  // takes much less
  EXPECT_GT(clock.times().cpu_s, of_the_first_s);
}

TEST(StageClock, returns_the_result_of_a_wait_which_may_throw) {
  StageClock clock(1);
  StageClock::Worker worker(clock, 0);
  EXPECT_EQ(worker.measure_wait(State::waiting_for_input, [] { return 7; }), 7);
  EXPECT_THROW(
      worker.measure_wait(State::blocked, []() -> int { throw std::runtime_error("no more"); }),
      std::runtime_error);
  const double waited = clock.times().blocked_s;
  worker.measure_wait(State::waiting_for_input, [] {});
  EXPECT_EQ(clock.times().blocked_s, waited) << "the worker is busy again after a throw";
}

/// There are more workers than cores, so some are preempted while they change their state.
TEST(StageClock, may_be_read_while_workers_run_and_does_not_run_backward) {
  const int workers = 2 + 2 * int(std::thread::hardware_concurrency());
  StageClock clock(workers);
  std::atomic<int> running = workers;
  std::vector<std::thread> threads;
  for (int i = 0; i < workers; ++i) {
    threads.emplace_back([&, i] {
      StageClock::Worker worker(clock, i);
      for (int j = 0; j < 100'000; ++j) worker.measure_wait(State::blocked, [] {});
      --running;
    });
  }
  constexpr double kRounding_s = 2e-9;
  StageTimes last;
  while (running > 0) {
    const StageTimes times = clock.times();
    EXPECT_GE(times.busy_s, last.busy_s - kRounding_s);
    EXPECT_GE(times.waiting_for_input_s, last.waiting_for_input_s - kRounding_s);
    EXPECT_GE(times.blocked_s, last.blocked_s - kRounding_s);
    last = times;
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(StageClock, adds_up_to_wall_time_of_all_workers) {
  constexpr int kWorkers = 3;
  const auto start = StageClock::Clock::now();
  const double start_s = std::chrono::duration<double>(start.time_since_epoch()).count();
  StageClock clock(kWorkers, start);
  const auto expect_total_time = [&] {
    const double before = now_s();
    const StageTimes times = clock.times();
    const double total = times.busy_s + times.waiting_for_input_s + times.blocked_s;
    EXPECT_GE(total, kWorkers * (before - start_s) - 1e-9);
    EXPECT_LE(total, kWorkers * (now_s() - start_s) + 1e-9);
  };
  expect_total_time();  // no worker has begun
  {
    StageClock::Worker first(clock, 0), second(clock, 1);
    wait_for(0.001);
    expect_total_time();  // one worker has not begun
    first.measure_wait(State::blocked, [&] {
      wait_for(0.001);
      expect_total_time();
    });
  }
  expect_total_time();  // two workers have ended
}

TEST(StageClock, counts_the_current_state) {
  StageClock clock(1);
  StageClock::Worker worker(clock, 0);
  worker.measure_wait(State::blocked, [&] {
    const StageTimes before = clock.times();
    wait_for(0.002);
    const StageTimes after = clock.times();
    EXPECT_GE(after.blocked_s - before.blocked_s, 0.002 - 1e-6);
    EXPECT_EQ(after.waiting_for_input_s, before.waiting_for_input_s);
    EXPECT_EQ(after.busy_s, before.busy_s);
  });
}

TEST(StageClock, measures_busy_time_of_a_worker) {
  StageClock clock(1);
  StageClock::Worker worker(clock, 0);
  const double start_s = now_s();
  const auto before = worker.busy_time();
  wait_for(0.002);
  worker.measure_wait(State::blocked, [] { wait_for(0.005); });
  const std::chrono::duration<double> busy = worker.busy_time() - before;
  EXPECT_GE(busy.count(), 0.002 - 1e-6);
  EXPECT_LE(busy.count(), now_s() - start_s - 0.005 + 1e-6) << "without the wait";
}

TEST(StageClock, reports_each_wait_with_its_begin_and_end) {
  StageClock clock(1);
  std::vector<State> states;
  std::vector<StageClock::Time> times{StageClock::Clock::now()};
  StageClock::Worker worker(clock, 0,
                            [&](State state, StageClock::Time begin, StageClock::Time end) {
                              states.push_back(state);
                              times.insert(times.end(), {begin, end});
                            });
  worker.measure_wait(State::blocked, [&] {
    times.push_back(StageClock::Clock::now());
    EXPECT_TRUE(states.empty()) << "the wait has not ended";
  });
  times.push_back(StageClock::Clock::now());
  std::swap(times[1], times[2]);  // the begin of the wait, and a time within it
  EXPECT_TRUE(std::ranges::is_sorted(times));
  worker.measure_wait(State::waiting_for_input, [] {});
  EXPECT_EQ(states, (std::vector{State::blocked, State::waiting_for_input}));
}

TEST(StageClock, does_not_count_a_wait_that_has_not_ended_as_busy_time) {
  StageClock clock(1);
  StageClock::Worker worker(clock, 0);
  worker.measure_wait(State::blocked, [&] {
    const auto before = worker.busy_time();
    wait_for(0.001);
    EXPECT_EQ(worker.busy_time(), before);
  });
}

TEST(StageClock, counts_cpu_time_during_and_after_a_worker) {
  StageClock clock(2);
  std::thread([&] {
    StageClock::Worker worker(clock, 1);
    while (clock.times().cpu_s < 0.005) {
    }
  }).join();
  const double after = clock.times().cpu_s;
  EXPECT_GE(after, 0.005);
  EXPECT_EQ(clock.times().cpu_s, after);
}

}  // namespace
}  // namespace eckart::flow
