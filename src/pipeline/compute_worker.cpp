#include "pipeline/compute_worker.hpp"

#include <spdlog/spdlog.h>

#include "pipeline/attempt.hpp"

namespace eckart {
namespace {

/// Runs one step of a batch; what it throws becomes the outcome of every item in it.
template <class Step>
bool attempt_batch(Batch& batch, Step&& step) {
  Outcome outcome;
  attempt(outcome, Stage::compute, Reason::compute_failed, step);
  if (outcome.ok()) return true;
  for (ItemPtr& item : batch.items) item->outcome = outcome;
  return false;
}

}  // namespace

ComputeWorker::ComputeWorker(std::unique_ptr<Lane> lane, BatchChannel& in, ItemChannel& out,
                             flow::StageClock::Worker& clock)
    : in_(in), out_(out), clock_(clock), lane_(std::move(lane)) {
  for (int slot = 0; slot < lane_->slots(); ++slot) free_slots_.push_back(slot);
}

void ComputeWorker::run() {
  for (;;) {
    if (std::optional<Batch> batch = next_batch()) {
      start(std::move(*batch));
    } else if (!in_flight_.empty()) {
      finish_oldest();
    } else {
      return;
    }
  }
}

/// Waits for a batch only when there is nothing else to do.
std::optional<Batch> ComputeWorker::next_batch() {
  if (free_slots_.empty()) return std::nullopt;
  if (!in_flight_.empty()) return in_.try_pop();
  return clock_.waiting(flow::StageClock::State::waiting_for_input, [&] { return in_.pop(); });
}

void ComputeWorker::start(Batch batch) {
  const int slot = free_slots_.back();
  spdlog::trace("batch: {} images, {} planes of {} x {}", batch.items.size(), batch.planes,
                batch.shape.rows, batch.shape.cols);
  std::vector<Task*> tasks;
  for (ItemPtr& item : batch.items) tasks.push_back(&item->task);
  if (!attempt_batch(batch, [&] { lane_->start(slot, batch.shape, tasks); })) {
    send(std::move(batch));
    return;
  }
  free_slots_.pop_back();
  in_flight_.push_back({slot, std::move(batch)});
}

void ComputeWorker::finish_oldest() {
  const int slot = in_flight_.front().slot;
  attempt_batch(in_flight_.front().batch, [&] { lane_->finish(slot); });
  free_slots_.push_back(slot);
  Batch batch = std::move(in_flight_.front().batch);
  in_flight_.pop_front();
  send(std::move(batch));
}

void ComputeWorker::send(Batch batch) {
  clock_.waiting(flow::StageClock::State::waiting_for_room, [&] {
    for (ItemPtr& item : batch.items) {
      if (item->outcome.ok() && !item->task.error.empty()) {
        item->outcome = Outcome::failed(Stage::compute, item->task.reason, item->task.error);
      }
      if (!out_.push(std::move(item))) return;
    }
  });
}

}  // namespace eckart
