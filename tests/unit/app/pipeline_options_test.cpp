#include "app/pipeline_options.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <string>
#include <vector>

#include "core/default_budget.hpp"
#include "core/mebibytes.hpp"
#include "machine/usable_cores.hpp"
#include "machine/usable_memory.hpp"

namespace eckart::app {
namespace {

TEST(MemoryBudget, is_a_share_of_the_usable_memory_if_it_is_auto) {
  const std::int64_t usable_mb = machine::usable_memory_bytes() / kMiB;
  EXPECT_EQ(pipeline_options({}).budget_bytes, default_budget_mb(usable_mb) * kMiB);
}

TEST(MemoryBudget, is_the_number_that_is_set) {
  settings::Settings settings;
  settings.budget_mb = 5;
  EXPECT_EQ(pipeline_options(settings).budget_bytes, 5 * kMiB);
}

settings::Settings settings_of(const std::vector<std::string>& assignments) {
  settings::Settings settings;
  for (const std::string& assignment : assignments) settings::apply(settings, assignment);
  return settings;
}

TEST(PipelineOption, is_that_of_the_settings) {
  const pipeline::PipelineOptions options = pipeline_options(settings_of(
      {"threads.load=3", "threads.write=5", "batch.linger_ms=7", "batch.pad=16",
       "wait_for_space=true", "timeouts.stall_s=11", "limits.decode_s=13", "durability=file"}));
  EXPECT_EQ(options.load_threads, 3);
  EXPECT_EQ(options.write_threads, 5);
  EXPECT_EQ(options.cores, machine::usable_cores());
  EXPECT_EQ(options.pad_multiple, 16);
  EXPECT_EQ(options.linger.count(), 7);
  EXPECT_EQ(options.extra_linger.count(), 350);
  EXPECT_EQ(options.publish_group_files, 1) << "each file on its own";
  EXPECT_TRUE(options.wait_for_space);
  EXPECT_EQ(options.limits.stall.count(), 11);
  EXPECT_EQ(options.limits.decode.count(), 13);
  EXPECT_FALSE(pipeline_options({}).wait_for_space);
}

/// Each file of a group is open until the group is published.
TEST(PipelineOption, leaves_half_of_the_descriptors_to_other_uses) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const auto group_with = [&](rlim_t descriptors, const char* threads) {
    const rlimit limit{descriptors, before.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    const int files = pipeline_options(settings_of({std::string("threads.write=") + threads}))
                          .publish_group_files;
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    return files;
  };
  EXPECT_EQ(group_with(200, "5"), 20);
  EXPECT_EQ(group_with(200, "100"), 1);
  EXPECT_EQ(group_with(200, "1"), 64) << "the maximum";
}

TEST(BackendOption, is_that_of_the_settings) {
  const compute::BackendOptions options =
      backend_options(settings_of({"solver=gesvd", "certificate=bound", "deterministic=true",
                                   "cuda.lanes=3", "cpu.lanes=5", "batch.planes=7",
                                   "cuda.devices=2,0", "cuda.memory_fraction=0.25"}),
                      {{.backend = CostBackend::cuda, .device = "a GPU", .date = {}, .costs = {}}});
  EXPECT_EQ(options.solver, SolverKind::gesvd);
  EXPECT_EQ(options.certificate, Certificate::bound);
  EXPECT_TRUE(options.deterministic);
  EXPECT_EQ(options.lanes, 3);
  EXPECT_EQ(options.batch_planes, 7);
  EXPECT_EQ(options.devices, (std::vector<int>{2, 0}));
  EXPECT_EQ(options.memory_fraction, 0.25);
  ASSERT_EQ(options.calibration.size(), 1U);
  EXPECT_EQ(options.calibration[0].device, "a GPU");
}

}  // namespace
}  // namespace eckart::app
