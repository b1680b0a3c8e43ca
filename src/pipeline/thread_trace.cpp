#include "pipeline/thread_trace.hpp"

#include <algorithm>
#include <utility>

namespace eckart::pipeline {
namespace {

using trace::Trace;
using trace::TraceArgs;

// Shorter waits are not recorded, because a run has very many.
constexpr std::chrono::microseconds kMinWait{5};
// Thread numbers are unique among threads and processes, and define the order of the tracks.
constexpr int kThreadsPerStage = 1000, kThreadsPerDevice = 100'000, kThreadsPerLane = 10;
constexpr int kFirstDevice = Trace::kHost + 1;
constexpr int kSecondCopyIn = compute::kDeviceSpanKindCount;

Trace::Track track_of(Stage stage, int index) {
  return {Trace::kHost, (int(stage) + 1) * kThreadsPerStage + index};
}

bool has_one_thread(Stage stage) { return stage == Stage::source || stage == Stage::batch; }

std::string name_of(Stage stage, int index) {
  const std::string name(to_string(stage));
  return has_one_thread(stage) ? name : name + " " + std::to_string(index);
}

std::string name_of(const Batch& batch) { return "batch " + std::to_string(batch.number); }

const char* name_of(compute::DeviceSpan::Kind kind) {
  switch (kind) {
    case compute::DeviceSpan::copy_in:
      return "copy in";
    case compute::DeviceSpan::compute:
      return "compute";
    case compute::DeviceSpan::copy_out:
      return "copy out";
  }
  return "?";
}

}  // namespace

ThreadTrace::ThreadTrace(Trace* trace, Stage stage, int index)
    : trace_(trace), category_(to_string(stage).data()), track_(track_of(stage, index)) {
  if (trace_) trace_->name_thread(track_, name_of(stage, index));
}

ThreadTrace::Span::Span(ThreadTrace& thread, const char* name)
    : thread_(thread.trace_ ? &thread : nullptr) {
  if (!thread_) return;
  name_ = name;
  begin_ = thread_->now();
}

ThreadTrace::Span::Span(ThreadTrace& thread, const WorkItem& item)
    : thread_(thread.trace_ ? &thread : nullptr) {
  if (!thread_) return;
  name_ = item.relative.native();
  begin_ = thread_->now();
}

ThreadTrace::Span::Span(ThreadTrace& thread, const Batch& batch)
    : thread_(thread.trace_ ? &thread : nullptr) {
  if (!thread_) return;
  name_ = name_of(batch);
  begin_ = thread_->now();
}

void ThreadTrace::Span::end_with(const TraceArgs& args) {
  thread_->trace_->span(thread_->track_, thread_->category_, name_, begin_, thread_->now(), args);
  thread_ = nullptr;
}

void ThreadTrace::trace_found(const WorkItem& item) {
  if (!trace_) return;
  const Instant begin = next_time(item.found_at);
  trace_->span(track_, category_, item.relative.native(), begin, now(), trace_args(item));
  trace_->flow(Flow::start, "image", item.number, track_, begin);
}

void ThreadTrace::trace_flow(const WorkItem& item, Flow flow) {
  if (trace_) trace_->flow(flow, "image", item.number, track_, now());
}

void ThreadTrace::trace_flow(const Batch& batch, Flow flow) {
  if (!trace_) return;
  trace_->flow(flow, "batch", batch.number, track_, now());
  if (flow == Flow::step) return;
  for (const ItemPtr& item : batch.items) trace_flow(*item);
}

flow::StageClock::Worker::OnWait ThreadTrace::on_wait() {
  if (!trace_) return {};
  return [this](flow::StageClock::State state, Instant begin, Instant end) {
    const char* name = std::exchange(wait_name_, kDefaultWaitName);
    const bool is_blocked = state == flow::StageClock::State::blocked;
    if (!is_blocked || end - begin < kMinWait) return;
    begin = next_time(begin);
    trace_->span(track_, "wait", name, begin, next_time(end));
  };
}

Instant ThreadTrace::next_time(Instant time) {
  return last_ = std::max(time, last_ + std::chrono::nanoseconds(1));
}

TraceArgs trace_args(const WorkItem& item) {
  TraceArgs args;
  args.add("image", item.number).add("file", item.file.native());
  if (item.outcome.ok()) return args;
  args.add("result", to_string(item.outcome.result));
  if (item.outcome.reason != FailureReason::none)
    args.add("reason", to_string(item.outcome.reason));
  return args.add("detail", item.outcome.detail);
}

TraceArgs load_trace_args(const WorkItem& item) {
  const ImageShape& shape = item.image_shape;
  return trace_args(item)
      .add("bytes", item.input_bytes)
      .add("rows", shape.rows)
      .add("cols", shape.cols)
      .add("channels", shape.channels);
}

TraceArgs trace_args(const Batch& batch) {
  return TraceArgs()
      .add("images", batch.items.size())
      .add("planes", batch.planes)
      .add("plane_capacity", batch.plane_capacity)
      .add("rows", batch.key.shape.rows)
      .add("cols", batch.key.shape.cols);
}

DeviceTrace::DeviceTrace(Trace* trace, const std::vector<std::string>& gpus, int lane)
    : trace_(gpus.empty() ? nullptr : trace),
      process_(gpus.empty() ? 0 : kFirstDevice + lane % int(gpus.size())),
      lane_(lane) {
  if (!trace_) return;
  trace_->name_process(process_, "GPU " + gpus[std::size_t(process_ - kFirstDevice)]);
  for (const auto kind :
       {compute::DeviceSpan::copy_in, compute::DeviceSpan::compute, compute::DeviceSpan::copy_out})
    trace_->name_thread(track(kind), "lane " + std::to_string(lane_) + " " + name_of(kind));
  trace_->name_thread(track(kSecondCopyIn), "lane " + std::to_string(lane_) + " copy in, second");
}

/// Both batches of a lane may be copied in at the same time.
int DeviceTrace::track_of(const compute::DeviceSpan& span) const {
  const bool is_second = span.kind == compute::DeviceSpan::copy_in && span.begin < last_[span.kind];
  return is_second ? kSecondCopyIn : int(span.kind);
}

/// The clocks of host and device differ slightly. Times are clamped, so that a span begins after
/// its request and after the previous span of the same track.
void DeviceTrace::add(const std::vector<compute::DeviceSpan>& spans, const Batch& batch,
                      Instant started) {
  if (!trace_) return;
  const auto now = Clock::now();
  for (const compute::DeviceSpan& span : spans) {
    const int index = track_of(span);
    Instant& last = last_[index];
    const Instant begin = std::min(std::max({span.begin, started, last}), now);
    const Instant end = last = std::clamp(span.end, begin, std::max(begin, now));
    TraceArgs args;
    args.add("planes", span.planes)
        .add("clock_error_us", std::chrono::duration<double, std::micro>(span.clock_error).count());
    trace_->span(track(index), "device", name_of(batch) + (span.is_recompute ? ", recomputed" : ""),
                 begin, end, args);
    trace_->flow(Trace::Flow::step, "batch", batch.number, track(index), begin);
  }
}

Trace::Track DeviceTrace::track(int index) const {
  const int device = process_ - kFirstDevice + 1;
  return {process_, device * kThreadsPerDevice + lane_ * kThreadsPerLane + index};
}

}  // namespace eckart::pipeline
