#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "core/error.hpp"
#include "core/instant.hpp"
#include "flow/stage_clock.hpp"
#include "pipeline/activity.hpp"
#include "pipeline/job_steps.hpp"
#include "pipeline/pipeline_options.hpp"
#include "pipeline/space_wait.hpp"
#include "pipeline/tally.hpp"
#include "pipeline/thread_trace.hpp"
#include "pipeline/work_item.hpp"

namespace eckart::pipeline {

/// What all write workers of a pipeline share.
struct WriteStage {
  JobSteps& steps;
  const PipelineOptions& options;
  ItemChannel& in;
  Tally& tally;
  Meters& meters;
  Activity& activity;
  SpaceMonitor space;
};

/// Writes finished items, and publishes them in groups. Used by one thread.
class WriteWorker {
 public:
  WriteWorker(WriteStage& stage, flow::StageClock::Worker& clock, ThreadTrace& trace)
      : stage_(stage), clock_(clock), trace_(trace), in_(stage.in) {}

  /// Runs until `in` is closed and empty, or until `leaves` returns true, which it is asked between
  /// two groups. Returns whether it left. Throws EnvironmentError, and other errors that end the
  /// run.
  bool run(const std::function<bool()>& leaves = [] { return false; });

 private:
  void add_to_group(ItemPtr item);
  void try_write(WorkItem& item);
  void write(WorkItem& item);
  void publish();
  void end_group();
  void record_published() noexcept;
  std::size_t published() const;
  void finish(ItemState from);
  Activity::Step publish_step() const;
  Activity::Step finish_step() const;
  void wait_for_retry(SpaceWait& wait, int& exhaustions, const EnvironmentError& error);
  void wait_for_space(SpaceWait& wait, const EnvironmentError& error);

  WriteStage& stage_;
  flow::StageClock::Worker& clock_;
  ThreadTrace& trace_;
  ItemChannel::Consumer in_;     // images of one batch have neighboring names, mostly of one folder
  std::vector<ItemPtr> group_;   // written, to be published together, or published, to be recorded
  std::size_t group_files_ = 0;  // number of files to be published
  Instant group_begin_{};        // when the first of them was taken
};

}  // namespace eckart::pipeline
