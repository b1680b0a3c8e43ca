#include "pipeline/compute_worker.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "core/instant.hpp"
#include "pipeline/attempt.hpp"
#include "pipeline/full_rank_filter.hpp"

namespace eckart::pipeline {
namespace {

trace::TraceArgs finish_trace_args(const Batch& batch) {
  std::int64_t planes_recomputed = 0, failed = 0;
  for (const ItemPtr& item : batch.items) {
    failed += !item->outcome.ok() || !item->task.error.empty();
    if (item->task.results.empty()) continue;
    for (const compute::PlaneResult& plane : item->task.results.front())
      planes_recomputed += plane.is_recomputed;
  }
  return trace_args(batch)
      .add("step", "finish")
      .add("planes_recomputed", planes_recomputed)
      .add("images_failed", failed);
}

}  // namespace

ComputeWorker::ComputeWorker(std::unique_ptr<compute::Lane> lane, const ComputeStage& stage,
                             flow::StageClock::Worker& clock, LaneTrace& trace)
    : in_(stage.in),
      out_(stage.out),
      in_flight_batches_(stage.in_flight_batches),
      input_decoding_(stage.input_decoding),
      meters_(stage.meters),
      activity_(stage.activity),
      limits_(stage.limits),
      max_cpu_idle_(stage.max_cpu_idle),
      on_batch_taken_(stage.on_batch_taken),
      clock_(clock),
      trace_(trace),
      lane_(std::move(lane)) {
  for (int slot = 0; slot < lane_->slots(); ++slot) free_slots_.push_back(slot);
}

void ComputeWorker::run() {
  for (;;) {
    if (std::optional<Batch> batch = next_batch()) {
      meters_.batches.add(Clock::now() - batch->entered_at);
      on_batch_taken_();
      start(std::move(*batch));
    } else if (!started_.empty()) {
      finish_oldest();
    } else {
      return;
    }
  }
}

/// Blocks only if no batch is in flight.
std::optional<Batch> ComputeWorker::next_batch() {
  if (free_slots_.empty()) return std::nullopt;
  if (!started_.empty()) return in_.try_pop();
  return clock_.measure_wait(flow::StageClock::State::waiting_for_input, [&] { return in_.pop(); });
}

Activity::Step ComputeWorker::step_of(const Batch& batch) const {
  Activity::Step step{to_string(Stage::compute), limits_.compute(batch), {}, max_cpu_idle_};
  for (const ItemPtr& item : batch.items) step.files.push_back(to_activity_file(*item));
  return step;
}

/// Runs one step of a batch. If the step throws, every item of the batch gets that outcome. Returns
/// whether the step succeeded. Throws FatalError and EnvironmentError.
template <class Step>
bool ComputeWorker::attempt_batch(Batch& batch, Step&& step) {
  Outcome outcome;
  const Activity::Scope scope(activity_, step_of(batch));
  try {
    attempt(outcome, Stage::compute, FailureReason::compute_failed, step);
  } catch (const DeviceLostError&) {
    in_flight_batches_.report_device_lost();
    throw;
  }
  if (outcome.ok()) return true;
  for (ItemPtr& item : batch.items) item->outcome = outcome;
  return false;
}

/// Finishes the batches of this lane before it waits for other lanes, because those may wait for
/// them.
std::optional<InFlightBatches::Registration> ComputeWorker::begin(const Batch& batch) {
  if (auto registration = in_flight_batches_.try_begin(batch)) return registration;
  while (!started_.empty()) finish_oldest();
  trace_.thread.name_next_wait("waiting for other lanes");
  return clock_.measure_wait(flow::StageClock::State::blocked,
                             [&] { return in_flight_batches_.begin(batch); });
}

/// Allocates the outputs of all items. Takes out those for which there is no memory: each fails
/// alone.
Batch ComputeWorker::take_unallocated(Batch& batch) {
  for (ItemPtr& item : batch.items)
    attempt(item->outcome, Stage::compute, FailureReason::compute_failed,
            [&] { allocate_outputs(item->task); });
  const auto failed = std::stable_partition(batch.items.begin(), batch.items.end(),
                                            [](const ItemPtr& item) { return item->outcome.ok(); });
  Batch unallocated{.key = batch.key, .entered_at = Clock::now()};
  for (auto item = failed; item != batch.items.end(); ++item) {
    batch.planes -= (*item)->task.input.shape().channels;
    unallocated.items.push_back(std::move(*item));
  }
  batch.items.erase(failed, batch.items.end());
  return unallocated;
}

void ComputeWorker::start(Batch batch) {
  if (Batch unallocated = take_unallocated(batch); !unallocated.items.empty())
    send(std::move(unallocated));
  if (batch.items.empty()) return;
  std::optional<InFlightBatches::Registration> registration = begin(batch);
  if (!registration) return;  // the device is lost
  const int slot = free_slots_.back();
  ThreadTrace::Span span(trace_.thread, batch);
  trace_.thread.trace_flow(batch);
  batch.entered_at = Clock::now();
  spdlog::trace("batch: {} images, {} planes of {} x {}", batch.items.size(), batch.planes,
                batch.key.shape.rows, batch.key.shape.cols);
  std::vector<compute::Task*> tasks;
  for (ItemPtr& item : batch.items) tasks.push_back(&item->task);
  const bool has_started = attempt_batch(batch, [&] { lane_->start(slot, batch.key, tasks); });
  if (!has_started) {
    registration.reset();
    trace_.thread.trace_flow(batch, ThreadTrace::Flow::end);
    span.end([&] { return trace_args(batch).add("step", "start, failed"); });
    send(std::move(batch));
    return;
  }
  trace_device(batch);
  span.end([&] { return trace_args(batch).add("step", "start"); });
  free_slots_.pop_back();
  started_.push_back({slot, std::move(batch), std::move(*registration)});
}

void ComputeWorker::finish_oldest() {
  Batch batch;
  {
    StartedBatch oldest = std::move(started_.front());
    started_.pop_front();
    ThreadTrace::Span span(trace_.thread, oldest.batch);
    attempt_batch(oldest.batch, [&] { lane_->finish(oldest.slot); });
    trace_device(oldest.batch);
    trace_.thread.trace_flow(oldest.batch, ThreadTrace::Flow::end);
    span.end([&] { return finish_trace_args(oldest.batch); });
    free_slots_.push_back(oldest.slot);
    batch = std::move(oldest.batch);
  }
  send(std::move(batch));
}

void ComputeWorker::trace_device(const Batch& batch) {
  if (trace_.thread.trace()) trace_.device.add(lane_->take_spans(), batch, batch.entered_at);
}

void ComputeWorker::send(Batch batch) {
  const auto now = Clock::now();
  meters_.service(Stage::compute).add(now - batch.entered_at, std::int64_t(batch.items.size()));
  for (ItemPtr& item : batch.items) {
    item->entered_at = now;
    item->compute_time = (now - batch.entered_at) / batch.items.size();
  }
  clock_.measure_wait(flow::StageClock::State::blocked, [&] {
    for (ItemPtr& item : batch.items) {
      if (item->task.is_canceled)
        continue;  // canceled items are dropped, like items that are only decoded
      if (item->outcome.ok() && !item->task.error.empty()) {
        item->outcome =
            Outcome::failed(item->task.failed_stage, item->task.reason, item->task.error);
      }
      if (item->outcome.ok()) {
        attempt(item->outcome, Stage::compute, FailureReason::compute_failed,
                [&] { complete_outputs(*item); });
      }
      if (item->outcome.ok()) item->advance(ItemState::computed);
      if (item->undecoded_format && item->outcome.ok())
        input_decoding_.add_computed(*item->undecoded_format, item->task.encoded_input == nullptr);
      if (!out_.push(std::move(item))) return;
    }
  });
}

}  // namespace eckart::pipeline
