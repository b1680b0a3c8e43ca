#pragma once

#include <string>
#include <vector>

#include "core/instant.hpp"
#include "flow/stage_clock.hpp"
#include "pipeline/work_item.hpp"
#include "trace/trace.hpp"

namespace eckart::pipeline {

/// Records one pipeline thread in the trace; does nothing without a trace. Used by that thread
/// only. A flow connects the spans of an image from source to end. A flow of a batch connects the
/// batcher, the lane and the device.
class ThreadTrace {
 public:
  using Flow = trace::Trace::Flow;

  ThreadTrace(trace::Trace* trace, Stage stage, int index);

  /// A span of the thread during the lifetime of this object. Spans do not nest.
  class Span {
   public:
    Span(ThreadTrace& thread, const char* name);
    Span(ThreadTrace& thread, const WorkItem& item);
    Span(ThreadTrace& thread, const Batch& batch);
    ~Span() { end(); }
    Span(const Span&) = delete;
    Span& operator=(const Span&) = delete;
    void end() {
      if (thread_) end_with({});
    }
    /// Ends the span with the arguments that `args` returns. Does not call `args` without a trace.
    template <class Args>
    void end(Args&& args) {
      if (thread_) end_with(args());
    }

   private:
    void end_with(const trace::TraceArgs& args);

    ThreadTrace* thread_;  // null after the end
    std::string name_;
    Instant begin_{};
  };

  trace::Trace* trace() const { return trace_; }

  /// Records a span since WorkItem::found_at, and starts the flow of the image.
  void trace_found(const WorkItem& item);
  /// Adds the current span to the flow of an item or batch. If the flow of a batch starts or ends,
  /// the span is also added to the flows of its items.
  void trace_flow(const WorkItem& item, Flow flow = Flow::step);
  void trace_flow(const Batch& batch, Flow flow = Flow::step);

  /// Returns a callback for this thread's clock that records blocked times as spans.
  flow::StageClock::Worker::OnWait on_wait();
  void name_next_wait(const char* name) { wait_name_ = name; }

 private:
  /// Returns `time`, or a later time, so that the times of this thread increase strictly.
  Instant next_time(Instant time);
  Instant now() { return next_time(Clock::now()); }

  trace::Trace* const trace_;
  const char* const category_;
  const trace::Trace::Track track_;
  static constexpr const char* kDefaultWaitName = "blocked";
  const char* wait_name_ = kDefaultWaitName;
  Instant last_{};
};

/// Trace arguments of an image and of a batch.
trace::TraceArgs trace_args(const WorkItem& item);
trace::TraceArgs load_trace_args(const WorkItem& item);
trace::TraceArgs trace_args(const Batch& batch);

/// Records the work of a lane's GPU on tracks of that GPU; does nothing without a trace. Used by
/// the thread of the lane only.
class DeviceTrace {
 public:
  /// `gpus`: PCI bus IDs; empty without a GPU.
  DeviceTrace(trace::Trace* trace, const std::vector<std::string>& gpus, int lane);

  /// Records the device spans of a batch that the host started at `started`.
  void add(const std::vector<compute::DeviceSpan>& spans, const Batch& batch, Instant started);

 private:
  trace::Trace::Track track(int index) const;
  int track_of(const compute::DeviceSpan& span) const;

  trace::Trace* const trace_;
  const int process_, lane_;
  // By track: one of each kind, and one for copies in during another. When its last span ended.
  Instant last_[compute::kDeviceSpanKindCount + 1]{};
};

/// The traces of one lane.
struct LaneTrace {
  ThreadTrace thread{nullptr, Stage::compute, 0};
  DeviceTrace device{nullptr, {}, 0};
};

}  // namespace eckart::pipeline
