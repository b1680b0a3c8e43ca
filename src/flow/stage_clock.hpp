#pragma once

#include <pthread.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

namespace eckart::flow {

/// Where the time of one stage's workers went, in seconds summed over the workers.
struct StageTimes {
  int workers = 0;
  double busy_s = 0;
  double waiting_for_input_s = 0;
  double blocked_s = 0;
  double cpu_s = 0;  ///< of a core, which the workers' threads had
  double total_s() const { return busy_s + waiting_for_input_s + blocked_s; }
};

/// The clock of one stage. Every worker is in one of three states at any time from `start` on, so
/// that the three sums add up to workers x wall time; one that has not begun, or has ended, waits
/// for input.
class StageClock {
  class WorkerRecord;

 public:
  enum class State { busy, waiting_for_input, blocked };
  using Clock = std::chrono::steady_clock;
  using Time = Clock::time_point;

  explicit StageClock(int workers, Time start = Clock::now());
  ~StageClock();
  StageClock(const StageClock&) = delete;
  StageClock& operator=(const StageClock&) = delete;

  /// One worker's hand on the clock; lives on that worker's thread, from its start to its end.
  class Worker {
   public:
    /// Told of each wait at its end; must not throw.
    using OnWait = std::function<void(State state, Time begin, Time end)>;
    Worker(StageClock& clock, int index, OnWait on_wait = {});
    ~Worker();
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    /// Runs `wait`, counting its time under `state`.
    template <class Wait>
    auto measure_wait(State state, Wait&& wait) {
      struct BusyGuard {
        Worker& worker;
        const State state;
        const Time begin;
        ~BusyGuard() {
          const Time end = worker.enter(State::busy);
          if (worker.on_wait_) worker.on_wait_(state, begin, end);
        }
      };
      const BusyGuard guard{*this, state, enter(state)};
      return wait();
    }

    /// How long it has been busy so far.
    std::chrono::nanoseconds busy_time() const;

   private:
    Time enter(State next);
    WorkerRecord& record_;
    const OnWait on_wait_;
  };

  /// Up to now, also of states that go on. From any thread.
  StageTimes times() const;

 private:
  const int count_;
  std::unique_ptr<WorkerRecord[]> records_;
};

}  // namespace eckart::flow
