#include "flow/stage_clock.hpp"

#include <time.h>

#include <thread>
#include <utility>

namespace eckart::flow {
namespace {

double seconds(std::int64_t ns) { return 1e-9 * double(ns); }

std::int64_t cpu_ns(clockid_t clock) {
  timespec time{};
  if (clock_gettime(clock, &time) != 0) return 0;
  return std::int64_t(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

/// The record of one worker: the worker writes it, any thread reads it. It has its own cache lines.
/// State and times must be read together, so a reader that finds an odd or changed `version_` reads
/// again.
class alignas(64) StageClock::WorkerRecord {
 public:
  struct Times {
    std::array<std::int64_t, 4> ns{};  // by state
    bool is_absent = false;
    std::int64_t cpu = 0;
  };

  void start(State state, Time now) {
    state_.store(state, std::memory_order_relaxed);
    since_.store(now, std::memory_order_relaxed);
  }

  /// To be called on the worker's thread. Returns the time of the change. This time is taken after
  /// `version_` is made odd. Readers take theirs before they check `version_`. Otherwise, if the
  /// worker were preempted between the two, it would subtract time that a reader has already
  /// counted.
  Time enter(State next) {
    version_.store(version_.load(std::memory_order_relaxed) + 1, std::memory_order_seq_cst);
    const Time now = Clock::now();
    auto& ns = ns_[std::size_t(state_.load(std::memory_order_relaxed))];
    ns.store(
        ns.load(std::memory_order_relaxed) + (now - since_.load(std::memory_order_relaxed)).count(),
        std::memory_order_release);
    since_.store(now, std::memory_order_release);
    state_.store(next, std::memory_order_release);
    version_.store(version_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    return now;
  }

  Times read() const {
    Times times;
    for (;;) {
      const auto version = version_.load(std::memory_order_acquire);
      for (std::size_t i = 0; i < ns_.size(); ++i)
        times.ns[i] = ns_[i].load(std::memory_order_acquire);
      const Time since = since_.load(std::memory_order_acquire);
      const State state = state_.load(std::memory_order_acquire);
      const Time now = Clock::now();
      if (version % 2 != 0 || version_.load(std::memory_order_seq_cst) != version) {
        std::this_thread::yield();  // to a worker that was preempted during the change
        continue;
      }
      times.ns[std::size_t(state)] += (now - since).count();
      times.is_absent = state == State::absent;
      break;
    }
    const std::lock_guard lock(thread_mutex_);
    times.cpu = cpu_ns_ + (has_thread_ ? cpu_ns(thread_clock_) : 0);
    return times;
  }

  std::int64_t busy_ns() const {
    const auto busy = ns_[std::size_t(State::busy)].load(std::memory_order_relaxed);
    if (state_.load(std::memory_order_relaxed) != State::busy) return busy;
    return busy + (Clock::now() - since_.load(std::memory_order_relaxed)).count();
  }

  void attach_thread() {
    const std::lock_guard lock(thread_mutex_);
    has_thread_ = pthread_getcpuclockid(pthread_self(), &thread_clock_) == 0;
  }

  void detach_thread() {
    const std::lock_guard lock(thread_mutex_);
    if (has_thread_) cpu_ns_ += cpu_ns(CLOCK_THREAD_CPUTIME_ID);
    has_thread_ = false;
  }

 private:
  std::atomic<std::uint64_t> version_{0};
  std::array<std::atomic<std::int64_t>, 4> ns_{};
  std::atomic<Time> since_{};
  std::atomic<State> state_{State::waiting_for_input};
  mutable std::mutex thread_mutex_;
  bool has_thread_ = false;
  clockid_t thread_clock_{};
  std::int64_t cpu_ns_ = 0;  // of the ended threads
};

StageClock::StageClock(int workers, int max_workers, Time start)
    : count_(max_workers), records_(std::make_unique<WorkerRecord[]>(std::size_t(max_workers))) {
  for (int i = 0; i < count_; ++i)
    records_[std::size_t(i)].start(i < workers ? State::waiting_for_input : State::absent, start);
}

StageClock::~StageClock() = default;

StageClock::Worker::Worker(StageClock& clock, int index, OnWait on_wait)
    : record_(clock.records_[std::size_t(index)]), on_wait_(std::move(on_wait)) {
  record_.attach_thread();
  enter(State::busy);
}

StageClock::Worker::~Worker() {
  enter(last_state_);
  record_.detach_thread();
}

StageClock::Time StageClock::Worker::enter(State next) { return record_.enter(next); }

std::chrono::nanoseconds StageClock::Worker::busy_time() const {
  return std::chrono::nanoseconds(record_.busy_ns());
}

StageTimes StageClock::times() const {
  StageTimes sum;
  for (int i = 0; i < count_; ++i) {
    const WorkerRecord::Times times = records_[std::size_t(i)].read();
    sum.workers += times.is_absent ? 0 : 1;
    sum.busy_s += seconds(times.ns[0]);
    sum.waiting_for_input_s += seconds(times.ns[1]);
    sum.blocked_s += seconds(times.ns[2]);
    sum.cpu_s += seconds(times.cpu);
  }
  return sum;
}

}  // namespace eckart::flow
