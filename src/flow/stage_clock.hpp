#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>

namespace eckart::flow {

/// Where the time of one stage's workers went, in seconds summed over the workers.
struct StageTimes {
  int workers = 0;
  double busy_s = 0;
  double waiting_for_input_s = 0;
  double waiting_for_room_s = 0;
  double total_s() const { return busy_s + waiting_for_input_s + waiting_for_room_s; }
};

/// Nanoseconds of one worker in each state; a cache line of its own, since each worker writes its
/// own.
struct alignas(64) StageCell {
  std::atomic<std::int64_t> ns[3] = {0, 0, 0};
};

/// The clock of one stage. Every worker is in one of three states at any time, from its start to
/// its end, so that the three sums add up to the workers' wall time.
class StageClock {
 public:
  enum class State { busy, waiting_for_input, waiting_for_room };
  using Clock = std::chrono::steady_clock;

  explicit StageClock(int workers)
      : count_(workers), cells_(std::make_unique<StageCell[]>(std::size_t(workers))) {}

  /// One worker's hand on the clock; lives on that worker's thread, from its start to its end.
  class Worker {
   public:
    Worker(StageClock& clock, int index)
        : cell_(clock.cells_[std::size_t(index)]), since_(Clock::now()) {}
    ~Worker() { enter(State::busy); }
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    /// Runs `wait`, counting its time under `state`.
    template <class Wait>
    auto waiting(State state, Wait&& wait) {
      struct Back {
        Worker& worker;
        ~Back() { worker.enter(State::busy); }
      };
      enter(state);
      const Back back{*this};
      return wait();
    }

   private:
    void enter(State next) {
      const auto now = Clock::now();
      const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now - since_).count();
      cell_.ns[std::size_t(state_)].fetch_add(ns, std::memory_order_relaxed);
      since_ = now;
      state_ = next;
    }
    StageCell& cell_;
    Clock::time_point since_;
    State state_ = State::busy;
  };

  /// May be called at any time from any thread; a worker's present state counts when it ends.
  StageTimes times() const {
    StageTimes sum{.workers = count_};
    for (int i = 0; i < count_; ++i) {
      const auto& ns = cells_[std::size_t(i)].ns;
      sum.busy_s += 1e-9 * double(ns[0].load(std::memory_order_relaxed));
      sum.waiting_for_input_s += 1e-9 * double(ns[1].load(std::memory_order_relaxed));
      sum.waiting_for_room_s += 1e-9 * double(ns[2].load(std::memory_order_relaxed));
    }
    return sum;
  }

 private:
  friend class Worker;
  const int count_;
  std::unique_ptr<StageCell[]> cells_;
};

}  // namespace eckart::flow
