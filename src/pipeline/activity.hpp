#pragma once

#include <pthread.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "files/file_state.hpp"
#include "pipeline/work_item.hpp"

namespace eckart {

/// What the threads of a pipeline are doing, step by step, so that a thread that hangs is found and
/// named. Thread-safe.
class Activity {
 public:
  using Clock = std::chrono::steady_clock;
  using Duration = Clock::duration;

  struct File {
    std::filesystem::path file, relative;  ///< as WorkItem has them, and the next
    int job = 0;
    FileState state{};
  };
  /// What one thread has begun and not ended.
  struct Step {
    std::string stage;          ///< "load", for people
    Duration max_duration{};    ///< it has stalled when it has lasted longer
    std::vector<File> files{};  ///< that it works on; may be empty
    /// It has stalled, too, when its thread has used no CPU time for so long; 0: does not matter.
    Duration max_cpu_idle{};
    /// Whether the step moves images. Other steps, such as maintenance, do not end the idle time.
    bool is_image_work = true;
  };
  /// A step that has lasted too long.
  struct Stall {
    std::string stage;
    std::vector<File> files;
    std::chrono::seconds age{};
  };

 private:
  struct RunningStep {
    Step step;
    clockid_t thread_clock{};
    bool has_thread_clock = false;
    bool is_waiting = false;  // for other threads, or by design
    Clock::time_point begin{};
    Duration age{}, cpu_idle{};  // up to the last check
    std::chrono::nanoseconds cpu{};
  };
  using StepIterator = std::list<RunningStep>::iterator;

 public:
  /// A step from here to its end, on one thread.
  class Scope {
   public:
    Scope(Activity& activity, Step step)
        : activity_(activity), position_(activity.begin(std::move(step))) {}
    ~Scope() { activity_.end(position_); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

    /// Runs `wait`, which does not count: for others, or as long as it is designed to.
    template <class Wait>
    auto exclude_wait(Wait&& wait) {
      const WaitGuard pause(*this);
      return wait();
    }

   private:
    struct WaitGuard {
      explicit WaitGuard(Scope& paused) : scope(paused) {
        scope.activity_.set_waiting(scope.position_, true);
      }
      ~WaitGuard() { scope.activity_.set_waiting(scope.position_, false); }
      WaitGuard(const WaitGuard&) = delete;
      WaitGuard& operator=(const WaitGuard&) = delete;
      Scope& scope;
    };
    Activity& activity_;
    const StepIterator position_;
  };

  /// To be called every second or so. The time between two calls counts for 5 s at most: a process
  /// that was stopped or suspended meanwhile has not stalled. Returns the step that is longest over
  /// its limit.
  std::optional<Stall> check(Clock::time_point now = Clock::now());
  /// For how long no step of image work has begun, ended or been running, as of the last check.
  Duration idle_time() const;
  /// The steps that are at work, those first that have lasted longest, in words: "load of a.png for
  /// 12 s, ..."; empty where there is none.
  std::string describe() const;

 private:
  StepIterator begin(Step step);
  void end(StepIterator position);
  void set_waiting(StepIterator position, bool is_waiting);

  mutable std::mutex mutex_;
  std::list<RunningStep> steps_;
  std::int64_t changes_ = 0,
               last_changes_ = 0;  // of image work: begun, ended, paused; at the last check
  Clock::time_point last_check_ = Clock::now();
  Duration idle_time_{};
};

/// The file of an item, as Activity has it.
Activity::File to_activity_file(const WorkItem& item);

/// "load has been at work on in/a.png for 203 s"
std::string to_string(const Activity::Stall& stall);

}  // namespace eckart
