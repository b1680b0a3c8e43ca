#pragma once

#include <pthread.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/instant.hpp"
#include "files/file_state.hpp"
#include "pipeline/work_item.hpp"

namespace eckart::pipeline {

/// Records the current steps of all pipeline threads, so that a stalled thread can be found and
/// named. Thread-safe. Each image takes several steps, so threads share no lock here.
class Activity {
 public:
  using Duration = Clock::duration;

  /// A file of a step. The paths must exist, unchanged, until the step ends.
  struct FileOfStep {
    const std::filesystem::path &file, &relative;  ///< as in WorkItem
    int job = 0;
    files::FileState state{};
  };
  struct File {
    std::filesystem::path file, relative;
    int job = 0;
    files::FileState state{};
  };
  /// A step that a thread has begun and not ended.
  struct Step {
    std::string_view stage;           ///< to_string() of a Stage, or a literal: a name for messages
    Duration max_duration{};          ///< a longer step is stalled
    std::vector<FileOfStep> files{};  ///< may be empty
    /// The step is also stalled if its thread used no CPU time for this long. 0 disables this
    /// check.
    Duration max_cpu_idle{};
    /// Whether the step processes images. Other steps, such as maintenance, do not reset the idle
    /// time.
    bool is_image_work = true;
  };
  enum class StallKind {
    step_too_long,  ///< a step exceeded its limit
    idle,           ///< images wait for a stage, but no thread processes any
  };
  struct Stall {
    StallKind kind = StallKind::step_too_long;
    std::string_view stage;
    std::vector<File> files{};   ///< the files of the step
    std::chrono::seconds age{};  ///< of the step, or the idle time
  };

 private:
  struct RunningStep {
    Step step;
    clockid_t thread_clock{};
    bool has_thread_clock = false;
    bool is_waiting = false;  // the step does not count
    Instant begin{};
    Duration age{}, cpu_idle{};  // at the last check
    std::chrono::nanoseconds cpu{};

    Duration overrun(Instant last_check, Instant now, Duration tick);
    Stall to_stall() const;
  };
  /// The steps of some of the threads.
  struct alignas(64) Shard {
    mutable std::mutex mutex;
    std::list<RunningStep> steps;
    std::int64_t changes = 0;  // begin, end and pause events of image steps
  };
  struct StepPosition {
    Shard& shard;
    const std::list<RunningStep>::iterator step;
  };

 public:
  /// Records a step of the current thread during the lifetime of this object.
  class Scope {
   public:
    Scope(Activity& activity, Step step) : position_(activity.begin(std::move(step))) {}
    ~Scope() { end(position_); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

    /// Runs `wait` and excludes its duration from the step. For waits for other threads and for
    /// waits of bounded, intended length.
    template <class Wait>
    auto exclude_wait(Wait&& wait) {
      const WaitGuard pause(*this);
      return wait();
    }

   private:
    struct WaitGuard {
      explicit WaitGuard(Scope& paused) : scope(paused) { set_waiting(scope.position_, true); }
      ~WaitGuard() { set_waiting(scope.position_, false); }
      WaitGuard(const WaitGuard&) = delete;
      WaitGuard& operator=(const WaitGuard&) = delete;
      Scope& scope;
    };
    const StepPosition position_;
  };

  /// Call it at least about once per second. Returns the step that exceeds its limit the most, if
  /// any. The time between two calls counts as at most 5 s, because a stopped or suspended process
  /// has not stalled.
  std::optional<Stall> check(Instant now = Clock::now());
  /// Returns how long no image step has begun, ended or been running, as of the last check.
  Duration idle_time() const;
  /// Describes the running steps, the longest first: "load of a.png for 12 s, ...". Empty if no
  /// step is running.
  std::string describe() const;
  /// Returns "compute for 12 s" for the longest running step, if it has run for at least `min_age`;
  /// empty otherwise.
  std::string describe_longest(Duration min_age) const;

 private:
  struct Description {
    Instant begin{};
    std::string_view stage;
    std::string files;  ///< the first, and the number of further ones
  };

  std::vector<Description> describe_steps() const;
  StepPosition begin(Step step);
  static void end(const StepPosition& position);
  static void set_waiting(const StepPosition& position, bool is_waiting);

  std::array<Shard, 64> shards_;  // by thread

  mutable std::mutex check_mutex_;  // locked before that of a shard
  std::int64_t last_changes_ = 0;   // of all shards, at the last check
  Instant last_check_ = Clock::now();
  Duration idle_time_{};
};

/// Returns the file of an item for an Activity::Step.
Activity::FileOfStep to_activity_file(const WorkItem& item);

/// Formats a stall: "load has been running on in/a.png for 203 s, longer than its limit", or
/// "images wait for compute, but no thread has processed any for 203 s".
std::string to_string(const Activity::Stall& stall);

}  // namespace eckart::pipeline
