#include "flow/stage_clock.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>
#include <vector>

namespace eckart::flow {
namespace {

using State = StageClock::State;

double now_s() {
  return std::chrono::duration<double>(StageClock::Clock::now().time_since_epoch()).count();
}

/// Returns when the clock has moved on by `seconds`.
void spend(double seconds) {
  const double end = now_s() + seconds;
  while (now_s() < end) std::this_thread::yield();
}

TEST(StageClock, TheThreeStatesAddUpToTheWallTimeOfAWorker) {
  StageClock clock(1);
  const double before = now_s();
  double inside_begin = 0, inside_end = 0;
  {
    StageClock::Worker worker(clock, 0);
    inside_begin = now_s();
    for (int i = 0; i < 100; ++i) {
      spend(1e-5);
      worker.waiting(State::waiting_for_input, [] { spend(2e-5); });
      worker.waiting(State::waiting_for_room, [] { spend(3e-5); });
    }
    inside_end = now_s();
  }
  const double after = now_s();
  EXPECT_GE(clock.times().total_s(), inside_end - inside_begin - 1e-6);
  EXPECT_LE(clock.times().total_s(), after - before + 1e-6);
}

TEST(StageClock, EachStateGetsAtLeastTheTimeSpentInIt) {
  StageClock clock(1);
  {
    StageClock::Worker worker(clock, 0);
    spend(0.001);
    worker.waiting(State::waiting_for_input, [] { spend(0.002); });
    worker.waiting(State::waiting_for_room, [] { spend(0.003); });
  }
  const StageTimes times = clock.times();
  EXPECT_GE(times.busy_s, 0.001 - 1e-6);
  EXPECT_GE(times.waiting_for_input_s, 0.002 - 1e-6);
  EXPECT_GE(times.waiting_for_room_s, 0.003 - 1e-6);
}

TEST(StageClock, TimesAreSumsOverTheWorkers) {
  constexpr int kWorkers = 3;
  StageClock clock(kWorkers);
  const double before = now_s();
  std::vector<std::thread> threads;
  for (int i = 0; i < kWorkers; ++i) {
    threads.emplace_back([&, i] {
      StageClock::Worker worker(clock, i);
      worker.waiting(State::waiting_for_input, [] { spend(0.002); });
    });
  }
  for (std::thread& thread : threads) thread.join();
  const double wall = now_s() - before;
  EXPECT_EQ(clock.times().workers, kWorkers);
  EXPECT_GE(clock.times().waiting_for_input_s, kWorkers * 0.002 - 1e-6);
  EXPECT_LE(clock.times().total_s(), kWorkers * wall + 1e-6);
}

TEST(StageClock, AWaitGivesItsResultAndMayThrow) {
  StageClock clock(1);
  StageClock::Worker worker(clock, 0);
  EXPECT_EQ(worker.waiting(State::waiting_for_input, [] { return 7; }), 7);
  EXPECT_THROW(
      worker.waiting(State::waiting_for_room, []() -> int { throw std::runtime_error("no more"); }),
      std::runtime_error);
  const double waited = clock.times().waiting_for_room_s;
  worker.waiting(State::waiting_for_input, [] {});
  EXPECT_EQ(clock.times().waiting_for_room_s, waited) << "the worker is busy again after a throw";
}

TEST(StageClock, MayBeReadWhileWorkersRunAndNeverRunsBackwards) {
  StageClock clock(1);
  std::atomic<bool> ended = false;
  std::thread thread([&] {
    StageClock::Worker worker(clock, 0);
    for (int i = 0; i < 2000; ++i) worker.waiting(State::waiting_for_input, [] {});
    ended = true;
  });
  double last = 0;
  while (!ended) {
    const double total = clock.times().total_s();
    EXPECT_GE(total, last);
    last = total;
  }
  thread.join();
}

TEST(StageClock, StartsAtZero) {
  EXPECT_EQ(StageClock(4).times().total_s(), 0);
  EXPECT_EQ(StageClock(4).times().workers, 4);
}

}  // namespace
}  // namespace eckart::flow
