#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "flow/stage_clock.hpp"
#include "pipeline/activity.hpp"
#include "pipeline/in_flight_batches.hpp"
#include "pipeline/input_decoding.hpp"
#include "pipeline/meters.hpp"
#include "pipeline/step_limits.hpp"
#include "pipeline/thread_trace.hpp"
#include "pipeline/work_item.hpp"

namespace eckart::pipeline {

/// What all compute workers share.
struct ComputeStage {
  BatchChannel& in;
  ItemChannel& out;
  InFlightBatches& in_flight_batches;
  InputDecoding& input_decoding;
  Meters& meters;
  Activity& activity;
  StepLimits limits;
  StepLimits::Duration max_cpu_idle;             ///< see Activity::Step
  std::function<void()> on_batch_taken = [] {};  ///< after a batch was taken from `in`
};

/// Owns one lane and keeps its slots full: while one batch is computed, it starts the next batch or
/// finishes the previous one. Used by one thread.
class ComputeWorker {
 public:
  ComputeWorker(std::unique_ptr<compute::Lane> lane, const ComputeStage& stage,
                flow::StageClock::Worker& clock, LaneTrace& trace);

  /// Runs until `in` is closed and empty. Pushes every item to `out`, except canceled items; failed
  /// items carry their outcome.
  void run();

 private:
  struct StartedBatch {
    int slot;
    Batch batch;
    InFlightBatches::Registration registration;
  };
  std::optional<Batch> next_batch();
  Batch take_unallocated(Batch& batch);
  void start(Batch batch);
  std::optional<InFlightBatches::Registration> begin(const Batch& batch);
  Activity::Step step_of(const Batch& batch) const;
  template <class Step>
  bool attempt_batch(Batch& batch, Step&& step);
  void finish_oldest();
  void trace_device(const Batch& batch);
  void send(Batch batch);

  BatchChannel& in_;
  ItemChannel& out_;
  InFlightBatches& in_flight_batches_;
  InputDecoding& input_decoding_;
  Meters& meters_;
  Activity& activity_;
  const StepLimits limits_;
  const StepLimits::Duration max_cpu_idle_;
  const std::function<void()> on_batch_taken_;
  flow::StageClock::Worker& clock_;
  LaneTrace& trace_;
  std::vector<int> free_slots_;
  std::deque<StartedBatch> started_;  // destroyed after the lane, which may still read the items
  std::unique_ptr<compute::Lane> lane_;
};

}  // namespace eckart::pipeline
