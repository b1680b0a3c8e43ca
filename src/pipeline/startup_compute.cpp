#include "pipeline/startup_compute.hpp"

#include <memory>
#include <optional>
#include <utility>

namespace eckart::pipeline {
namespace {

constexpr int kFirstTrack = 500;  // in the trace, after the threads of the pipeline's own stages

}  // namespace

StartupCompute::StartupCompute(compute::Backend& backend, const Context& context,
                               flow::Workers::OnFailure on_failure)
    : backend_(backend),
      context_(context),
      on_failure_(std::move(on_failure)),
      batch_clock_(1),
      compute_clock_(backend.lanes()),
      compute_(
          "startup", backend.lanes(), [this](int i) { run_compute(i); },
          [this](std::exception_ptr error) { fail(std::move(error)); }),
      batch_(
          "startup batch", 1, [this](int) { run_batch(); },
          [this](std::exception_ptr error) { fail(std::move(error)); }) {}

void StartupCompute::join() {
  batch_.join();
  batches_.close();
  compute_.join();
}

/// Nobody takes further batches, so the thread that sends them must not wait.
void StartupCompute::fail(std::exception_ptr error) {
  batches_.cancel();
  on_failure_(std::move(error));
}

void StartupCompute::run_batch() {
  flow::StageClock::Worker clock(batch_clock_, 0);
  ThreadTrace trace(context_.trace, Stage::batch, kFirstTrack);
  while (!has_ended_) {
    std::optional<ItemPtr> item = context_.loaded.pop();
    if (!item) return;
    --context_.items_before_batcher;
    ++images_;
    const auto now = Clock::now();
    context_.meters.loaded.add(now - (*item)->entered_at);
    const int planes = (*item)->task.input.shape().channels;
    Batch batch{.key = compute::batch_key((*item)->task, 1),
                .planes = planes,
                .plane_capacity = planes,
                .number = ++context_.meters.batch_count,
                .entered_at = now};
    context_.meters.planes += planes;
    context_.meters.plane_capacity += planes;
    batch.items.push_back(std::move(*item));
    const ThreadTrace::Span span(trace, batch);
    trace.trace_flow(batch, ThreadTrace::Flow::start);
    if (!batches_.push(std::move(batch))) return;
  }
}

void StartupCompute::run_compute(int index) {
  LaneTrace trace{{context_.trace, Stage::compute, kFirstTrack + index}};
  flow::StageClock::Worker clock(compute_clock_, index, trace.thread.on_wait());
  std::unique_ptr<compute::Lane> lane = backend_.make_lane(index);
  lane->set_stop_token(context_.stop);
  ComputeWorker(std::move(lane),
                {batches_, context_.finished, context_.in_flight_batches, context_.jpeg_decoding,
                 context_.meters, context_.activity, context_.limits,
                 StepLimits::Duration(context_.limits.stall)},
                clock, trace)
      .run();
}

}  // namespace eckart::pipeline
