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

/// How the workers of one stage spent their time, in seconds summed over the workers. Time in which
/// a worker was absent is not counted.
struct StageTimes {
  int workers = 0;  ///< that are not absent
  double busy_s = 0;
  double waiting_for_input_s = 0;
  double blocked_s = 0;
  double cpu_s = 0;  ///< CPU time of the workers' threads
};

/// The clock of one stage. From `start` on, every worker is in exactly one state, so the sums of
/// the first three add up to workers x wall time. A worker that has not begun or has ended counts
/// as waiting for input. A worker that was added later, or has left, is absent until it begins.
class StageClock {
  class WorkerRecord;

 public:
  enum class State { busy, waiting_for_input, blocked, absent };
  using Clock = std::chrono::steady_clock;
  using Time = Clock::time_point;

  /// The first `workers` of `max_workers` workers are present from `start` on, the others absent.
  StageClock(int workers, int max_workers, Time start = Clock::now());
  explicit StageClock(int workers, Time start = Clock::now())
      : StageClock(workers, workers, start) {}
  ~StageClock();
  StageClock(const StageClock&) = delete;
  StageClock& operator=(const StageClock&) = delete;

  /// Sets the state of one worker. Lives on the thread of that worker, from its start to its end.
  class Worker {
   public:
    /// Called at the end of each wait. Must not throw.
    using OnWait = std::function<void(State state, Time begin, Time end)>;
    Worker(StageClock& clock, int index, OnWait on_wait = {});
    ~Worker();
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    /// Runs `wait` and counts its time under `state`.
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

    /// From its end on, the worker is absent.
    void leave() { last_state_ = State::absent; }

    /// The busy time of this worker so far.
    std::chrono::nanoseconds busy_time() const;

   private:
    Time enter(State next);
    WorkerRecord& record_;
    State last_state_ = State::waiting_for_input;  // from its end on
    const OnWait on_wait_;
  };

  /// The times until now, including states that have not ended. May be called from any thread.
  StageTimes times() const;

 private:
  const int count_;
  std::unique_ptr<WorkerRecord[]> records_;
};

}  // namespace eckart::flow
