// Tests a pipeline, and the threads of one stage, that run out of memory while threads are started.
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <new>

#include "flow/workers.hpp"
#include "tests/pipeline/fakes.hpp"
#include "tests/support/failing_new.hpp"

namespace eckart::test {
namespace {

/// The names of the last threads have 16 bytes, more than a std::string holds without an
/// allocation.
TEST(WorkersAllocation, is_reported_to_on_failure_if_it_fails_between_thread_starts) {
  constexpr int kThreads = 102;
  for (long number = kThreads - 5;; ++number) {
    int failed = 0;
    fail_allocation(number);
    {
      const flow::Workers workers(
          "twelve_bytes", kThreads, [](int) {}, [&](const std::exception_ptr&) { ++failed; });
    }
    const bool was_reached = stop_failing_allocations();
    EXPECT_EQ(failed, was_reached ? 1 : 0) << number;
    if (!was_reached) break;
  }
}

/// Each allocation of the calling thread fails in turn. The run ends with that error.
TEST(AllocationFailure, ends_the_run_between_the_starts_of_threads) {
  spdlog::set_level(spdlog::level::off);
  int failed = 0;
  for (long number = 1;; ++number) {
    PipelineHarness harness;
    harness.images = 1000;  // more than the queues hold
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
