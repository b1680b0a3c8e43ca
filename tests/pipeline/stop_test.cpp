// Tests the end of runs: full channels are drained, and a stop loses nothing.
#include <gtest/gtest.h>

#include <atomic>

#include "tests/pipeline/fakes.hpp"

namespace eckart::test {
namespace {

TEST(Pipeline, drains_when_every_channel_is_full) {
  // The channels hold 256 + 256 + 1024 items, and the workers a few more.
  constexpr int kFull = 1500;
  PipelineHarness harness;
  harness.images = 2 * kFull;
  std::atomic<int> asked_for = 0;
  harness.on_next = [&](int number) { asked_for = number; };
  harness.on_write = [&](int) { wait_until([&] { return asked_for >= kFull; }); };
  EXPECT_EQ(harness.run().done, 2 * kFull);
  EXPECT_EQ(harness.written(), numbers(2 * kFull));
}

TEST(Pipeline, finishes_computed_images_when_stopped) {
  PipelineHarness harness;
  harness.images = 100000;
  harness.on_write = [&](int number) {
    if (number >= 300) harness.pipeline().request_stop();
  };
  const telemetry::RunReport report = harness.run();
  EXPECT_TRUE(report.interrupted);
  EXPECT_EQ(harness.written(), harness.backend.started());
  EXPECT_EQ(report.done, std::int64_t(harness.written().size()));
  EXPECT_EQ(report.images(), report.done + report.failed);
  EXPECT_GT(report.done, 0);
  EXPECT_LT(report.done, 10000);
}

/// Decoded items may fill the whole budget.
TEST(Pipeline, drops_decoded_images_when_stopped) {
  PipelineHarness harness;
  harness.images = 1000;
  harness.backend.on_finish = [&](int) {
    wait_until([&] { return harness.loaded().size() >= 100; });
    harness.pipeline().request_stop();
  };
  const telemetry::RunReport report = harness.run();
  EXPECT_TRUE(report.interrupted);
  EXPECT_EQ(harness.written(), harness.backend.started());
  EXPECT_LT(report.done, 20);
}

/// Decoded items hold the whole budget and wait for the backend; a loader waits for the budget.
TEST(Pipeline, can_be_stopped_while_the_backend_is_created) {
  PipelineHarness harness;
  harness.images = 1000;
  harness.options.budget_bytes = 1;
  harness.make_backend = [&]() -> compute::Backend& {
    wait_until([&] { return !harness.loaded().empty(); });
    harness.pipeline().request_stop();
    return harness.backend;
  };
  const telemetry::RunReport report = harness.run();
  EXPECT_TRUE(report.interrupted);
  EXPECT_EQ(harness.written(), harness.backend.started());
}

TEST(Pipeline, can_be_stopped_before_it_starts) {
  PipelineHarness harness;
  harness.pipeline().request_stop();
  const telemetry::RunReport report = harness.run();
  EXPECT_EQ(report.images(), 0);
  EXPECT_TRUE(report.interrupted);
}

TEST(Pipeline, can_be_stopped_while_the_source_waits) {
  PipelineHarness harness;
  harness.source_waits_at_end = true;
  harness.on_write = [&](int number) {
    if (number == 19) harness.pipeline().request_stop();
  };
  harness.options.load_threads = harness.options.write_threads = 1;
  const telemetry::RunReport report = harness.run();
  EXPECT_EQ(report.done, 20);
  EXPECT_TRUE(report.interrupted);
}

TEST(Pipeline, can_be_stopped_while_all_stages_are_blocked) {
  PipelineHarness harness;
  harness.images = 3000;
  harness.options.budget_bytes = 1;
  std::atomic<int> asked_for = 0;
  harness.on_next = [&](int number) { asked_for = number; };
  harness.on_write = [&](int) {
    wait_until([&] { return asked_for >= 250; });
    harness.pipeline().request_stop();
  };
  const telemetry::RunReport report = harness.run();
  EXPECT_EQ(harness.written(), harness.backend.started());
  EXPECT_LT(report.images(), 3000);
}

TEST(Pipeline, is_not_interrupted_by_a_stop_after_the_last_image) {
  PipelineHarness harness;
  std::atomic<int> writes = 0;
  harness.on_write = [&](int) {
    if (++writes == 20) harness.pipeline().request_stop();
  };
  const telemetry::RunReport report = harness.run();
  EXPECT_EQ(report.done, 20);
  EXPECT_FALSE(report.interrupted);
}

}  // namespace
}  // namespace eckart::test
