#pragma once

#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "flow/budget.hpp"
#include "flow/stage_clock.hpp"
#include "io/source.hpp"
#include "pipeline/activity.hpp"
#include "pipeline/in_flight_batches.hpp"
#include "pipeline/job_steps.hpp"
#include "pipeline/pipeline_options.hpp"
#include "pipeline/tally.hpp"
#include "pipeline/work_item.hpp"
#include "pipeline/write_worker.hpp"
#include "telemetry/run_report.hpp"
#include "trace/trace.hpp"

namespace eckart {

/// The way of an image: source -> load -> batch -> compute -> write, and the one place that starts
/// and ends the threads of it.
class Pipeline {
 public:
  using Clock = std::chrono::steady_clock;

  /// `source` and `steps` must outlive it.
  Pipeline(io::Source& source, JobSteps& steps, const PipelineOptions& options);

  /// Runs until the source has no more and everything is written, or until request_stop() and what
  /// was in flight is written, or until an EnvironmentError, by which the report is stopped_by.
  /// Throws what else made the run abort: FatalError, or another exception (a bug). `trace`, if
  /// any, is told of all of it.
  telemetry::RunReport run(trace::Trace* trace = nullptr);

  /// Takes nothing new in, gives up what is only decoded, or what a lane gives up between two
  /// planes, and lets come out what is computed or further. From any thread, any number of times.
  void request_stop();

  telemetry::ProgressState progress() const { return tally_.progress(); }
  /// Since it was made; without what the machine does. From any thread.
  telemetry::Snapshot snapshot() const;
  /// Null before there is one.
  const Backend* backend() const { return backend_; }

  /// What has stalled, if anything: a step that takes longer than its work explains, or images that
  /// nobody works on. As Activity::check() has it; waits for nothing.
  std::optional<Activity::Stall> find_stall();
  /// As Activity::describe() has it: what is waited for after request_stop().
  std::string describe_activity() const { return activity_.describe(); }
  /// For what else is done for the pipeline's sake.
  Activity& activity() { return activity_; }

 private:
  bool push(ItemChannel& channel, ItemPtr item, flow::StageClock::Worker& clock);
  void trace_queue_sizes();
  void run_source();
  void run_load(int index);
  void run_batch(Backend& backend);
  void send(Batch batch, flow::StageClock::Worker& clock, ThreadTrace& trace);
  bool should_flush_batches() const;
  void run_compute(Backend& backend, int index);
  void run_write(int index);

  void load(WorkItem& item, const ReserveBytes& reserve, flow::StageClock::Worker& clock,
            Activity::Scope& step);
  const char* find_idle_stage() const;
  void abort(std::exception_ptr error);
  std::string stopped_by() const;
  void on_device_lost(const InFlightBatches::Items& items) const;
  std::vector<telemetry::StageStats> stages() const;

  io::Source& source_;
  JobSteps& steps_;
  const PipelineOptions options_;
  const Clock::time_point start_ = Clock::now();
  trace::Trace* trace_ = nullptr;  // while it runs
  std::atomic<Clock::duration::rep> queue_sizes_traced_at_{0};
  Meters meters_;
  Tally tally_{meters_};
  Activity activity_;
  flow::Budget budget_;
  ItemChannel found_, loaded_, finished_;
  BatchChannel batches_;
  std::atomic<int> items_before_batcher_{0};  // files between the source and the batcher
  InFlightBatches in_flight_batches_;
  flow::StageClock source_clock_, load_clock_, batch_clock_, write_clock_;
  std::optional<flow::StageClock> compute_clock_;  // made with the backend, which says how many
  double startup_s_ = 0;                           // until then
  std::atomic<const Backend*> backend_{nullptr};   // after both
  std::stop_source stop_;
  WriteWorker::Shared writer_shared_;
  std::mutex error_mutex_;
  std::exception_ptr error_;
};

}  // namespace eckart
