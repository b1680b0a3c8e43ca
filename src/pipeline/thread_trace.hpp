#pragma once

#include <string>
#include <vector>

#include "flow/stage_clock.hpp"
#include "pipeline/work_item.hpp"
#include "trace/trace.hpp"

namespace eckart {

/// One thread of the pipeline in the trace; without a trace it does nothing. Lives on that thread.
/// An image's way is an arrow from span to span, from the source to its end; a batch's one from
/// the batcher through its lane, and what the device did for it.
class ThreadTrace {
 public:
  using Flow = trace::Trace::Flow;

  ThreadTrace(trace::Trace* trace, Stage stage, int index);

  /// What the thread does from here on to the end of it. They do not nest.
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
    /// With what `args` gives, which is not called without a trace.
    template <class Args>
    void end(Args&& args) {
      if (thread_) end_with(args());
    }

   private:
    void end_with(const trace::TraceArgs& args);

    ThreadTrace* thread_;  // null where it has ended
    std::string name_;
    Instant begin_{};
  };

  trace::Trace* trace() const { return trace_; }

  /// A span, since it was found, of an image whose way begins there.
  void found(const WorkItem& item);
  /// That it comes by the span of now; a batch that begins or ends, with all of its images.
  void trace_flow(const WorkItem& item, Flow flow = Flow::step);
  void trace_flow(const Batch& batch, Flow flow = Flow::step);

  /// For this thread's clock: its waits for the next stage become spans.
  flow::StageClock::Worker::OnWait on_wait();
  void name_next_wait(const char* name) { wait_name_ = name; }

 private:
  /// Later than whatever was before it, so that spans lie in one another, or beside.
  Instant next_time(Instant time);
  Instant now() { return next_time(std::chrono::steady_clock::now()); }

  trace::Trace* const trace_;
  const char* const category_;
  const trace::Trace::Track track_;
  static constexpr const char* kDefaultWaitName = "blocked";
  const char* wait_name_ = kDefaultWaitName;
  Instant last_{};
};

/// What is known of an image, and of a batch.
trace::TraceArgs trace_args(const WorkItem& item);
trace::TraceArgs load_trace_args(const WorkItem& item);
trace::TraceArgs trace_args(const Batch& batch);

/// What a lane's device did, on tracks of that device; without a trace it does nothing. Lives on
/// the lane's thread.
class DeviceTrace {
 public:
  /// `gpu`: by its PCI bus id.
  DeviceTrace(trace::Trace* trace, const std::vector<std::string>& gpus, int lane);

  /// Of a batch, of which the host has had nothing before `started`.
  void add(const std::vector<DeviceSpan>& spans, const Batch& batch, Instant started);

 private:
  trace::Trace::Track track(DeviceSpan::Kind kind) const;

  trace::Trace* const trace_;
  const int process_, lane_;
  Instant last_[kDeviceSpanKindCount]{};
};

/// One lane: its thread, and its device.
struct LaneTrace {
  ThreadTrace thread{nullptr, Stage::compute, 0};
  DeviceTrace device{nullptr, {}, 0};
};

}  // namespace eckart
