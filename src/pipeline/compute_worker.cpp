#include "pipeline/compute_worker.hpp"

#include <spdlog/spdlog.h>

#include <utility>

#include "pipeline/attempt.hpp"
#include "pipeline/full_rank.hpp"

namespace eckart {
namespace {

telemetry::TraceArgs trace_args_of_finish(const Batch& batch) {
  std::int64_t done_again = 0, failed = 0;
  for (const ItemPtr& item : batch.items) {
    failed += !item->outcome.ok() || !item->task.error.empty();
    if (item->task.results.empty()) continue;
    for (const PlaneResult& plane : item->task.results.front()) done_again += plane.done_again;
  }
  return trace_args(batch)
      .add("step", "finish")
      .add("planes_done_again", done_again)
      .add("images_failed", failed);
}

}  // namespace

ComputeWorker::ComputeWorker(std::unique_ptr<Lane> lane, const Shared& shared, StepOf step_of,
                             flow::StageClock::Worker& clock, LaneTrace& trace)
    : in_(shared.in),
      out_(shared.out),
      in_flight_(shared.in_flight),
      meters_(shared.meters),
      activity_(shared.activity),
      step_of_(std::move(step_of)),
      clock_(clock),
      trace_(trace),
      lane_(std::move(lane)) {
  for (int slot = 0; slot < lane_->slots(); ++slot) free_slots_.push_back(slot);
}

void ComputeWorker::run() {
  for (;;) {
    if (std::optional<Batch> batch = next_batch()) {
      start(std::move(*batch));
    } else if (!started_.empty()) {
      finish_oldest();
    } else {
      return;
    }
  }
}

/// Waits for a batch only when there is nothing else to do.
std::optional<Batch> ComputeWorker::next_batch() {
  if (free_slots_.empty()) return std::nullopt;
  if (!started_.empty()) return taken(in_.try_pop());
  return taken(
      clock_.waiting(flow::StageClock::State::waiting_for_input, [&] { return in_.pop(); }));
}

std::optional<Batch> ComputeWorker::taken(std::optional<Batch> batch) {
  if (batch) meters_.batches.add(std::chrono::steady_clock::now() - batch->since);
  return batch;
}

/// Runs one step of a batch; what it throws becomes the outcome of every item in it.
template <class Step>
bool ComputeWorker::attempt_batch(Batch& batch, Step&& step) {
  Outcome outcome;
  const Activity::Scope scope(activity_, step_of_(batch));
  try {
    attempt(outcome, Stage::compute, Reason::compute_failed, step);
  } catch (const DeviceLost&) {
    in_flight_.device_lost();
    throw;
  }
  if (outcome.ok()) return true;
  for (ItemPtr& item : batch.items) item->outcome = outcome;
  return false;
}

/// Others may wait for what this lane has started, so that is finished before it waits for them.
std::optional<InFlight::Flight> ComputeWorker::begin(const Batch& batch) {
  if (auto flight = in_flight_.try_begin(batch)) return flight;
  while (!started_.empty()) finish_oldest();
  trace_.thread.name_next_wait("waits for other lanes");
  return clock_.waiting(flow::StageClock::State::waiting_for_room,
                        [&] { return in_flight_.begin(batch); });
}

void ComputeWorker::start(Batch batch) {
  std::optional<InFlight::Flight> flight = begin(batch);
  if (!flight) return;  // the device is lost
  const int slot = free_slots_.back();
  ThreadTrace::Span span(trace_.thread, batch);
  trace_.thread.pass(batch);
  batch.since = std::chrono::steady_clock::now();
  spdlog::trace("batch: {} images, {} planes of {} x {}", batch.items.size(), batch.planes,
                batch.kind.shape.rows, batch.kind.shape.cols);
  std::vector<Task*> tasks;
  for (ItemPtr& item : batch.items) tasks.push_back(&item->task);
  if (!attempt_batch(batch, [&] { lane_->start(slot, batch.kind, tasks); })) {
    flight.reset();
    trace_.thread.pass(batch, ThreadTrace::Flow::ends);
    span.end([&] { return trace_args(batch).add("step", "start, failed"); });
    send(std::move(batch));
    return;
  }
  trace_device(batch);
  span.end([&] { return trace_args(batch).add("step", "start"); });
  free_slots_.pop_back();
  started_.push_back({slot, std::move(batch), std::move(*flight)});
}

void ComputeWorker::finish_oldest() {
  Batch batch;
  {
    Started oldest = std::move(started_.front());
    started_.pop_front();
    ThreadTrace::Span span(trace_.thread, oldest.batch);
    attempt_batch(oldest.batch, [&] { lane_->finish(oldest.slot); });
    trace_device(oldest.batch);
    trace_.thread.pass(oldest.batch, ThreadTrace::Flow::ends);
    span.end([&] { return trace_args_of_finish(oldest.batch); });
    free_slots_.push_back(oldest.slot);
    batch = std::move(oldest.batch);
  }
  send(std::move(batch));
}

void ComputeWorker::trace_device(const Batch& batch) {
  if (trace_.thread.trace()) trace_.device.add(lane_->take_spans(), batch, batch.since);
}

void ComputeWorker::send(Batch batch) {
  const auto now = std::chrono::steady_clock::now();
  meters_.service(Stage::compute).add(now - batch.since, std::int64_t(batch.items.size()));
  for (ItemPtr& item : batch.items) item->since = now;
  clock_.waiting(flow::StageClock::State::waiting_for_room, [&] {
    for (ItemPtr& item : batch.items) {
      if (item->task.given_up) continue;  // as what is only decoded
      if (item->outcome.ok() && !item->task.error.empty()) {
        item->outcome = Outcome::failed(Stage::compute, item->task.reason, item->task.error);
      }
      if (item->outcome.ok()) {
        attempt(item->outcome, Stage::compute, Reason::compute_failed,
                [&] { add_full_rank_outputs(*item); });
      }
      if (!out_.push(std::move(item))) return;
    }
  });
}

}  // namespace eckart
