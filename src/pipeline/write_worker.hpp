#pragma once

#include <atomic>
#include <cstddef>
#include <stop_token>
#include <vector>

#include "core/error.hpp"
#include "flow/stage_clock.hpp"
#include "pipeline/activity.hpp"
#include "pipeline/job_steps.hpp"
#include "pipeline/pipeline_options.hpp"
#include "pipeline/tally.hpp"
#include "pipeline/thread_trace.hpp"
#include "pipeline/work_item.hpp"

namespace eckart::pipeline {

/// Writes finished items, and publishes them in groups. Used by one thread.
class WriteWorker {
 public:
  /// Shared by all write workers of a pipeline.
  struct Shared {
    JobSteps& steps;
    const PipelineOptions& options;
    ItemChannel& in;
    Tally& tally;
    Meters& meters;
    Activity& activity;
    const std::stop_token stop;
    std::atomic<int> waiting_for_space{0};
  };
  WriteWorker(Shared& shared, flow::StageClock::Worker& clock, ThreadTrace& trace)
      : shared_(shared), clock_(clock), trace_(trace) {}

  /// Runs until `in` is closed and empty. Throws EnvironmentError, and other errors that end the
  /// run.
  void run();

 private:
  /// A wait for disk space, from the first failed write until the output is written.
  struct SpaceWait {
    bool has_started = false;
  };
  void add_to_group(ItemPtr item);
  void try_write(WorkItem& item);
  void write(WorkItem& item);
  void publish();
  void finish(ItemState from);
  Activity::Step publish_step() const;
  bool should_wait_for_space(const EnvironmentError& error) const;
  void wait_for_space(SpaceWait& wait, const EnvironmentError& error);
  void end(const SpaceWait& wait);

  Shared& shared_;
  flow::StageClock::Worker& clock_;
  ThreadTrace& trace_;
  std::vector<ItemPtr> group_;   // written items, to be published together
  std::size_t group_files_ = 0;  // number of output files of the group
};

}  // namespace eckart::pipeline
