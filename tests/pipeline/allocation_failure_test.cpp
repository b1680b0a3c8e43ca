// Tests a pipeline that runs out of memory while it starts its threads.
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <new>

#include "tests/pipeline/fakes.hpp"
#include "tests/support/failing_new.hpp"

namespace eckart::test {
namespace {

/// Each allocation of the calling thread fails in turn. The run ends with that error.
TEST(AllocationFailure, ends_the_run_between_the_starts_of_threads) {
  spdlog::set_level(spdlog::level::off);
  int failed = 0;
  for (long number = 1;; ++number) {
    PipelineHarness harness;
    harness.images = 5000;  // more than the queues hold
    pipeline::Pipeline& pipeline = harness.pipeline();
    fail_allocation(number);
    try {
      pipeline.run();
    } catch (const std::bad_alloc&) {
      ++failed;
    }
    if (!stop_failing_allocations()) break;
  }
  EXPECT_GT(failed, 10);
  spdlog::set_level(spdlog::level::info);
}

}  // namespace
}  // namespace eckart::test
