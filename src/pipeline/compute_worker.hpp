#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "flow/stage_clock.hpp"
#include "pipeline/activity.hpp"
#include "pipeline/in_flight_batches.hpp"
#include "pipeline/meters.hpp"
#include "pipeline/thread_trace.hpp"
#include "pipeline/work_item.hpp"

namespace eckart {

/// Owns one lane and keeps its slots full: while one batch is computed, the next is started or the
/// last is emptied. Lives on one thread.
class ComputeWorker {
 public:
  /// By all lanes.
  struct Shared {
    BatchChannel& in;
    ItemChannel& out;
    InFlightBatches& in_flight_batches;
    Meters& meters;
    Activity& activity;
  };
  /// Computing a batch, as Activity is to know it.
  using MakeStep = std::function<Activity::Step(const Batch&)>;
  ComputeWorker(std::unique_ptr<Lane> lane, const Shared& shared, MakeStep make_step,
                flow::StageClock::Worker& clock, LaneTrace& trace);

  /// Until `in` is closed and empty; every item goes to `out`, failed ones with their outcome.
  void run();

 private:
  struct StartedBatch {
    int slot;
    Batch batch;
    InFlightBatches::Registration registration;
  };
  std::optional<Batch> next_batch();
  std::optional<Batch> record_queue_wait(std::optional<Batch> batch);
  void start(Batch batch);
  std::optional<InFlightBatches::Registration> begin(const Batch& batch);
  template <class Step>
  bool attempt_batch(Batch& batch, Step&& step);
  void finish_oldest();
  void trace_device(const Batch& batch);
  void send(Batch batch);

  BatchChannel& in_;
  ItemChannel& out_;
  InFlightBatches& in_flight_batches_;
  Meters& meters_;
  Activity& activity_;
  const MakeStep make_step_;
  flow::StageClock::Worker& clock_;
  LaneTrace& trace_;
  std::vector<int> free_slots_;
  std::deque<StartedBatch> started_;  // outlives the lane, which may still be reading its items
  std::unique_ptr<Lane> lane_;
};

}  // namespace eckart
