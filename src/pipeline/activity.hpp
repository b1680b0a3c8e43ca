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

#include "core/file_state.hpp"
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
    Duration limit{};           ///< it has stalled when it has lasted longer
    std::vector<File> files{};  ///< that it works on; may be empty
    /// It has stalled, too, when its thread has used no CPU time for so long; 0: does not matter.
    Duration idle_limit{};
  };
  /// A step that has lasted too long.
  struct Stall {
    std::string stage;
    std::vector<File> files;
    std::chrono::seconds age{};
  };

 private:
  struct Running {
    Step step;
    clockid_t thread_clock{};
    bool has_thread_clock = false;
    bool waits = false;  // for other threads, or by design
    Clock::time_point begin{};
    Duration age{}, idle{};  // up to the last check
    std::chrono::nanoseconds cpu{};
  };
  using Place = std::list<Running>::iterator;

 public:
  /// A step from here to its end, on one thread.
  class Scope {
   public:
    Scope(Activity& all, Step step) : all_(all), place_(all.begin(std::move(step))) {}
    ~Scope() { all_.end(place_); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

    /// Runs `wait`, which does not count: for others, or as long as it is designed to.
    template <class Wait>
    auto waiting(Wait&& wait) {
      const Pause pause(*this);
      return wait();
    }

   private:
    struct Pause {
      explicit Pause(Scope& paused) : scope(paused) { scope.all_.set_waiting(scope.place_, true); }
      ~Pause() { scope.all_.set_waiting(scope.place_, false); }
      Pause(const Pause&) = delete;
      Pause& operator=(const Pause&) = delete;
      Scope& scope;
    };
    Activity& all_;
    const Place place_;
  };

  /// To be called every second or so. The time between two calls counts for 5 s at most: a process
  /// that was stopped or suspended meanwhile has not stalled. Returns the step that is longest over
  /// its limit.
  std::optional<Stall> check(Clock::time_point now = Clock::now());
  /// For how long no step has begun, ended or been at work, as of the last check.
  Duration standstill() const;
  /// The steps that are at work, those first that have lasted longest, in words: "load of a.png for
  /// 12 s, ..."; empty where there is none.
  std::string text() const;

 private:
  Place begin(Step step);
  void end(Place place);
  void set_waiting(Place place, bool waits);

  mutable std::mutex mutex_;
  std::list<Running> steps_;
  std::int64_t changes_ = 0, changes_before_ = 0;  // steps begun, ended, paused; at the last check
  Clock::time_point checked_ = Clock::now();
  Duration standstill_{};
};

/// The file of an item, as Activity has it.
Activity::File file_of(const WorkItem& item);

/// "load has been at work on in/a.png for 203 s"
std::string to_string(const Activity::Stall& stall);

}  // namespace eckart
