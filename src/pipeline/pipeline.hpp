#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "core/instant.hpp"
#include "flow/budget.hpp"
#include "flow/stage_clock.hpp"
#include "flow/workers.hpp"
#include "io/source.hpp"
#include "pipeline/activity.hpp"
#include "pipeline/batcher.hpp"
#include "pipeline/in_flight_batches.hpp"
#include "pipeline/input_decoding.hpp"
#include "pipeline/job_steps.hpp"
#include "pipeline/pipeline_options.hpp"
#include "pipeline/tally.hpp"
#include "pipeline/work_item.hpp"
#include "pipeline/write_worker.hpp"
#include "telemetry/run_report.hpp"
#include "trace/trace.hpp"

namespace eckart::pipeline {

/// Processes images in the stages source -> load -> batch -> compute -> write. Starts and joins all
/// threads of the stages.
class Pipeline {
 public:
  /// `source` and `steps` must outlive the pipeline.
  Pipeline(io::Source& source, JobSteps& steps, const PipelineOptions& options);

  /// Runs until the source ends and all items are written, or until request_stop() and all computed
  /// items are written. An EnvironmentError also ends the run: RunReport::stopped_by has its
  /// message. Throws any other error that aborts the run: FatalError, or another exception (a bug).
  /// Records the run in `trace` if that is not null.
  telemetry::RunReport run(trace::Trace* trace = nullptr);

  /// Stops the run: takes no new items, drops items that are only decoded, and lets lanes cancel
  /// between two planes. Computed items are still written. Thread-safe; may be called several
  /// times.
  void request_stop();

  telemetry::ProgressState progress() const { return tally_.progress(); }
  /// Returns totals since the construction, without cores and GPUs. Thread-safe.
  telemetry::Snapshot snapshot() const;
  /// Null before the backend is created.
  const compute::Backend* backend() const { return backend_; }

  /// Returns a stall, if any: a step that exceeds its limit, or items that no thread processes.
  /// Call it at least about once per second, see Activity::check(). Thread-safe; does not block.
  std::optional<Activity::Stall> find_stall();
  /// Why threads wait for free disk space; empty if none waits.
  std::string missing_space() const { return write_stage_.space.reason(); }
  /// Describes the running steps; see Activity::describe().
  std::string describe_activity() const { return activity_.describe(); }
  /// Returns "compute for 12 s" for the longest running step, if it has run for at least `min_age`;
  /// empty otherwise.
  std::string describe_longest_step(Activity::Duration min_age) const {
    return activity_.describe_longest(min_age);
  }
  /// For steps of other threads that work for the pipeline.
  Activity& activity() { return activity_; }

 private:
  void push(ItemChannel& channel, ItemPtr item, flow::StageClock::Worker& clock);
  void push(ItemChannel& channel, std::span<ItemPtr> items, flow::StageClock::Worker& clock);
  void trace_queue_sizes();
  void run_source();
  void log_unread_files() const;
  void run_load(int index, flow::Workers& workers);
  void run_batch(const compute::Backend& backend);
  void send(Batch batch, flow::StageClock::Worker& clock, ThreadTrace& trace);
  std::optional<ItemPtr> pop_loaded(const Batcher& batcher);
  std::chrono::milliseconds extra_linger() const;
  void on_batch_taken();
  bool should_flush_batches() const;
  void run_compute(compute::Backend& backend, int index);
  void run_write(int index, flow::Workers& workers);
  void adapt_threads(flow::Workers& load, flow::Workers& write, const std::stop_token& stop);

  void load(WorkItem& item, LoadContext& context, flow::StageClock::Worker& clock,
            Activity::Scope& step);
  Stage find_idle_stage() const;
  void abort(std::exception_ptr error);
  std::string stopped_by() const;
  struct ClockReading {
    Instant time;
    std::array<flow::StageTimes, kStageCount> stages;
  };
  ClockReading read_clocks() const;
  std::vector<telemetry::StageStats> stages(const ClockReading& clocks) const;

  io::Source& source_;
  JobSteps& steps_;
  const PipelineOptions options_;
  const Instant start_ = Clock::now();
  trace::Trace* trace_ = nullptr;  // set by run(); may be null
  std::atomic<Clock::duration::rep> queue_sizes_traced_at_{0};
  Meters meters_;
  Tally tally_{meters_};
  Activity activity_;
  flow::Budget budget_;
  ItemChannel found_, loaded_, finished_;
  BatchChannel batches_;
  std::atomic<int> items_before_batcher_{0};    // items between the source and the batcher
  std::atomic<bool> has_partial_batch_{false};  // whether the batch thread gathers a batch
  InFlightBatches in_flight_batches_;
  InputDecoding input_decoding_;
  flow::StageClock source_clock_, load_clock_, batch_clock_, write_clock_;
  std::optional<flow::StageClock>
      compute_clock_;     // created with the backend, which has the number of lanes
  double startup_s_ = 0;  // until the backend was created
  std::atomic<const compute::Backend*> backend_{
      nullptr};  // set after compute_clock_ and startup_s_
  std::stop_source stop_;
  WriteStage write_stage_;
  std::mutex error_mutex_;
  std::exception_ptr error_;
};

}  // namespace eckart::pipeline
