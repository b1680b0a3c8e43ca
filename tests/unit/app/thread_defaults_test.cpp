#include <gtest/gtest.h>

#include <map>

#include "app/pipeline_options.hpp"
#include "capacity/model.hpp"
#include "core/default_threads.hpp"
#include "machine/usable_cores.hpp"

namespace eckart::app {
namespace {

/// Returns the threads of each stage on a machine with `cores` cores, as `eckart plan` predicts
/// them from a run on another machine.
std::map<Resource, int> planned_threads(int cores) {
  using capacity::StageUtilization;
  const auto busy = [](Stage stage) {
    return StageUtilization{
        .stage = stage, .workers = 7, .utilization = 0.5, .cpu_utilization = 0.5};
  };
  const capacity::RunMeasurement run{.cores = cores + 1,
                                     .images = 1000,
                                     .elapsed_s = 10,
                                     .rate_per_s = 100,
                                     .core_utilization = 0.5,
                                     .stages = {busy(Stage::load), busy(Stage::write)}};
  std::map<Resource, int> threads;
  for (const capacity::Bound& bound : capacity::Model({run}, {}).bounds(cores, 0))
    threads[bound.resource] = bound.servers;
  return threads;
}

TEST(ThreadDefault, has_the_same_maximum_in_a_run_and_in_plan) {
  const pipeline::PipelineOptions options = pipeline_options({});
  std::map<Resource, int> planned = planned_threads(machine::usable_cores());
  EXPECT_EQ(planned.at(Resource::load), options.max_load_threads);
  EXPECT_EQ(planned.at(Resource::write), options.max_write_threads);
  EXPECT_GT(options.max_load_threads, options.load_threads);
  EXPECT_GT(options.max_write_threads, options.write_threads);
}

TEST(ThreadDefault, leaves_numbers_that_are_set_alone) {
  settings::Settings settings;
  settings.threads.load = settings.threads.write = 3;
  const pipeline::PipelineOptions options = pipeline_options(settings);
  EXPECT_EQ(options.load_threads, 3);
  EXPECT_EQ(options.write_threads, 3);
  EXPECT_EQ(options.max_load_threads, 0);
  EXPECT_EQ(options.max_write_threads, 0);
}

TEST(ThreadDefault, grows_with_the_cores_in_plan_as_in_a_run) {
  for (const int cores : {1, 2, 3, 4, 8, 15, 16, 64}) {
    std::map<Resource, int> planned = planned_threads(cores);
    EXPECT_EQ(planned.at(Resource::load), max_auto_threads(cores)) << cores;
    EXPECT_EQ(planned.at(Resource::write), max_auto_threads(cores)) << cores;
  }
}

}  // namespace
}  // namespace eckart::app
