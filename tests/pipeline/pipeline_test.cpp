// Tests normal runs: every item is written, and memory stays within its limit.
#include "pipeline/pipeline.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <optional>

#include "core/instant.hpp"
#include "tests/pipeline/fakes.hpp"

namespace eckart::test {
namespace {

TEST(Pipeline, writes_every_image_once) {
  for (const int slots : {1, 2}) {
    PipelineHarness harness;
    harness.backend.slot_count = slots;
    harness.backend.planes = 3;
    const telemetry::RunReport report = harness.run();
    EXPECT_EQ(harness.written(), numbers(20));
    EXPECT_EQ(report.done, 20);
    EXPECT_EQ(report.failed, 0);
    EXPECT_EQ(report.outputs, 20);
    EXPECT_EQ(report.pixels, 20 * kSmall.rows * kSmall.cols);
    EXPECT_EQ(report.backend, "fake");
    EXPECT_FALSE(report.interrupted);
  }
}

TEST(Pipeline, schedules_threads_that_load_and_write_as_batch_work) {
  PipelineHarness harness;
  std::atomic<int> others = 0;
  const Hook check = [&](int) { others += sched_getscheduler(0) != SCHED_BATCH; };
  harness.on_load = check;
  harness.on_write = check;
  harness.run();
  EXPECT_EQ(others, 0);
}

TEST(Pipeline, ends_when_there_is_nothing_to_do) {
  PipelineHarness harness;
  harness.images = 0;
  const telemetry::RunReport report = harness.run();
  EXPECT_EQ(report.images(), 0);
  EXPECT_FALSE(report.interrupted);
}

TEST(Pipeline, does_not_wait_for_a_batch_to_fill_once_all_is_loaded) {
  PipelineHarness harness;
  harness.backend.planes = 1000;
  harness.options.linger = std::chrono::hours(1);
  harness.run();
  EXPECT_EQ(harness.written(), numbers(20));
}

TEST(Pipeline, does_not_wait_for_more_images_when_none_are_coming) {
  PipelineHarness harness;
  harness.images = 2;
  harness.backend.planes = 1000;
  harness.options.linger = std::chrono::hours(1);
  std::atomic<bool> first_written = false;
  harness.on_next = [&](int number) {
    if (number == 1) wait_until([&] { return first_written.load(); });
  };
  harness.on_write = [&](int) { first_written = true; };
  harness.run();
  EXPECT_EQ(harness.written(), numbers(2));
}

/// The source has not ended, so that the second image waits for items that may still arrive.
TEST(Pipeline, does_not_wait_for_an_image_that_could_not_be_loaded) {
  for (const ItemResult result :
       {ItemResult::failed, ItemResult::skipped, ItemResult::incomplete, ItemResult::deferred}) {
    PipelineHarness harness;
    harness.images = 2;
    harness.source_waits_at_end = true;
    harness.backend.planes = 1000;
    harness.options.linger = std::chrono::hours(1);
    harness.outcome_of_load = [&](int number) {
      return number == 0
                 ? Outcome{result, Stage::load, FailureReason::corrupt, "as the test wants it"}
                 : Outcome();
    };
    harness.on_next = [&](int number) {  // the first image has ended
      const auto is_counted = [&] {
        const telemetry::ProgressState progress = harness.pipeline().progress();
        return progress.done == progress.total;
      };
      if (number == 1) wait_until([&] { return is_counted(); });
    };
    harness.on_write = [&](int) { harness.pipeline().request_stop(); };
    harness.run();
    EXPECT_EQ(harness.written(), std::vector{1});
  }
}

/// A group shares an fsync and a ledger transaction.
TEST(Pipeline, publishes_finished_images_in_groups) {
  PipelineHarness harness;
  harness.options.write_threads = 1;
  harness.options.publish_group_files = 4;
  const auto is_waiting = [&] {
    for (const telemetry::QueueStats& queue : harness.pipeline().snapshot().queues) {
      if (queue.name == "finished") return queue.images >= 19;
    }
    return false;
  };
  std::atomic<bool> first = true;
  harness.on_write = [&](int) {
    if (first.exchange(false)) wait_until(is_waiting);
  };
  int published = 0;
  std::vector<int> groups;
  harness.on_publish = [&](int) { ++published; };
  harness.on_record = [&](int) {
    if (published > 0) groups.push_back(std::exchange(published, 0));
  };
  harness.run();
  EXPECT_EQ(groups, std::vector<int>(5, 4));
}

TEST(Pipeline, does_not_count_deferred_images) {
  PipelineHarness harness;
  harness.outcome_of_load = [](int number) {
    return number % 2
               ? Outcome::incomplete(Stage::load, FailureReason::corrupt, "half of it is there")
               : Outcome();
  };
  const telemetry::RunReport report = harness.run();
  EXPECT_EQ(report.images(), 10);
  EXPECT_FALSE(report.interrupted);
  EXPECT_EQ(harness.pipeline().progress().total, 10);
}

TEST(Pipeline, sends_a_batch_when_its_linger_time_is_over) {
  PipelineHarness harness;
  harness.images = 2;
  harness.backend.planes = 1000;
  std::atomic<bool> first_written = false;
  harness.on_load = [&](int number) {  // still loading, so that the first image waits for it
    if (number == 1) wait_until([&] { return first_written.load(); });
  };
  harness.on_write = [&](int) { first_written = true; };
  harness.run();
  EXPECT_EQ(harness.written(), numbers(2));
}

/// Returns the number of batches that wait for a lane.
std::int64_t waiting_batches(PipelineHarness& harness) {
  for (const telemetry::QueueStats& queue : harness.pipeline().snapshot().queues) {
    if (queue.name == "batches") return queue.images;
  }
  return -1;
}

/// A run whose only lane computes image 0 until `release` is set, while image 1 waits for the lane
/// in a batch of its own. Then image 2 is loaded.
class BusyLaneTest : public ::testing::Test {
 protected:
  BusyLaneTest() {
    harness.options.load_threads = 1;
    harness.options.linger = std::chrono::milliseconds(0);
    harness.options.extra_linger = std::chrono::hours(1);
    harness.backend.slot_count = 1;
    harness.backend.on_start = [this](int number) {
      if (number != 0) return;
      is_computing_ = true;
      wait_until([&] { return release.load(); });
    };
    harness.on_load = [this](int number) {
      if (number == 1) wait_until([&] { return is_computing_.load(); });
      if (number == 2) wait_until([&] { return waiting_batches(harness) == 1; });
    };
  }

  PipelineHarness harness;
  std::atomic<bool> release = false;

 private:
  std::atomic<bool> is_computing_ = false;
};

TEST_F(BusyLaneTest, fills_a_due_batch_while_another_waits) {
  harness.images = 5;
  harness.backend.planes = 2;
  harness.on_next = [&](int number) {
    if (number != 4) return;
    wait_until([&] { return waiting_batches(harness) == 2; });
    release = true;
  };
  harness.run();
  EXPECT_EQ(harness.written(), numbers(5));
  EXPECT_EQ(harness.pipeline().snapshot().batches.count, 4) << "2 and 3 share a batch";
}

TEST_F(BusyLaneTest, sends_a_due_batch_as_soon_as_no_other_waits) {
  harness.images = 4;
  harness.backend.planes = 1000;
  std::atomic<int> begun_batches = 0;
  harness.backend.on_batch_planes = [&] { ++begun_batches; };
  std::atomic<bool> is_written = false;
  harness.on_write = [&](int number) { is_written = is_written || number == 2; };
  harness.on_next = [&](int number) {
    if (number != 3) return;
    wait_until([&] { return begun_batches == 3; });
    release = true;
    wait_until([&] { return is_written.load(); });
  };
  harness.run();
  EXPECT_EQ(harness.written(), numbers(4));
}

/// Otherwise a rare shape would wait until all other images are computed.
TEST_F(BusyLaneTest, sends_a_batch_after_the_extra_time_although_another_waits) {
  harness.images = 4;
  harness.options.extra_linger = std::chrono::milliseconds(1);
  harness.backend.planes = 1000;
  harness.on_next = [&](int number) {
    if (number != 3) return;
    wait_until([&] { return waiting_batches(harness) == 2; });
    release = true;
  };
  harness.run();
  EXPECT_EQ(harness.written(), numbers(4));
}

TEST(Pipeline, accounts_for_the_whole_time_of_every_worker) {
  PipelineHarness harness;
  harness.images = 200;
  harness.options.write_threads = 3;
  harness.backend.lane_count = 2;
  const auto in_seconds = [](Clock::duration time) {
    return std::chrono::duration<double>(time).count();
  };
  std::atomic<Instant> first_found = Instant::max();
  std::atomic<Instant> last_written = Instant::min();
  std::atomic<Clock::duration> writing = Clock::duration();
  harness.on_next = [&](int number) {
    if (number == 0) first_found = Clock::now();
  };
  harness.on_write = [&](int) {
    const auto begin = Clock::now();
    while (Clock::now() == begin) {
    }
    const auto end = Clock::now();
    last_written = end;
    for (auto sum = writing.load(); !writing.compare_exchange_weak(sum, sum + (end - begin));) {
    }
  };
  const auto start = Clock::now();
  const telemetry::RunReport report = harness.run();
  const double wall_s = in_seconds(Clock::now() - start);
  const double working_s = in_seconds(last_written.load() - first_found.load());
  ASSERT_GT(working_s, 0);
  ASSERT_EQ(report.stages.size(), 5u);
  for (const telemetry::StageStats& stage : report.stages) {
    const double sum = stage.busy_s + stage.waiting_for_input_s + stage.blocked_s;
    EXPECT_GE(sum, stage.workers * working_s) << to_string(stage.stage);
    EXPECT_LE(sum, stage.workers * wall_s) << to_string(stage.stage);
  }
  EXPECT_EQ(report.stages.back().stage, Stage::write);
  EXPECT_GE(report.stages.back().busy_s, in_seconds(writing));
  EXPECT_LE(report.stages.back().busy_s, 3 * wall_s);
}

TEST(Pipeline, resizes_with_the_backend_once_it_is_created) {
  class NoResizer : public preparation::Resizer {
    std::optional<Image> try_resize(const Image&, int, int) override { return std::nullopt; }
  } resizer;
  PipelineHarness harness;
  harness.images = 1;
  harness.backend.image_resizer = &resizer;
  std::atomic<bool> is_loading = false;
  harness.on_load_context = [&](pipeline::LoadContext& context) {
    EXPECT_EQ(context.resizer(), nullptr);
    is_loading = true;
    wait_until([&] { return context.resizer() == &resizer; });
  };
  harness.make_backend = [&]() -> compute::Backend& {
    wait_until([&] { return is_loading.load(); });
    return harness.backend;
  };
  harness.run();
  EXPECT_EQ(harness.written(), numbers(1));
}

TEST(Pipeline, holds_no_more_than_the_budget_while_the_writer_is_slow) {
  constexpr int kFit = 5;
  PipelineHarness harness;
  harness.options.load_threads = 3;
  harness.options.budget_bytes = std::size_t(kFit) * 2 * kSmall.bytes();
  std::atomic<int> asked = 0, held = 0, max_held = 0;
  harness.on_load = [&](int) { ++asked; };
  harness.on_reserved = [&](int) {
    const int now = ++held;
    for (int before = max_held; before < now && !max_held.compare_exchange_weak(before, now);) {
    }
  };
  harness.on_write = [&](int) {
    wait_until([&] { return asked > kFit; });  // one more item waits for the budget
    --held;
  };
  EXPECT_EQ(harness.run().done, 20);
  EXPECT_LE(max_held, kFit);
  EXPECT_GE(max_held, 1);
}

TEST(Pipeline, lets_an_image_larger_than_the_budget_through_alone) {
  PipelineHarness harness;
  harness.options.load_threads = 4;
  harness.options.budget_bytes = 4 * kSmall.bytes();
  harness.shape_of = [](int number) {
    return number % 5 == 3 ? ImageShape{100, 100, 3, Depth::u16} : kSmall;
  };
  std::atomic<int> held = 0;
  std::atomic<bool> alone = true;
  harness.on_reserved = [&](int number) {
    if (++held > 1 && number % 5 == 3) alone = false;
  };
  harness.on_write = [&](int) { --held; };
  EXPECT_EQ(harness.run().done, 20);
  EXPECT_TRUE(alone);
}

/// Every image waits in `step` until so many are there at the same time, as if a disk were slow.
class SlowStep {
 public:
  explicit SlowStep(int together) : together_(together) {}
  void pass() {
    ++waiting_;
    wait_until([&] { return waiting_ >= together_; });
  }

 private:
  const int together_;
  std::atomic<int> waiting_ = 0;
};

const telemetry::StageStats& stage_of(const telemetry::RunReport& report, Stage stage) {
  return *std::ranges::find(report.stages, stage, &telemetry::StageStats::stage);
}

TEST(Pipeline, adds_load_threads_while_all_of_them_wait_for_the_disk) {
  PipelineHarness harness;
  harness.options.load_threads = 1;
  harness.options.max_load_threads = 4;
  harness.options.cores = 1000;
  SlowStep slow(3);
  harness.on_load = [&](int) { slow.pass(); };
  const telemetry::RunReport report = harness.run();
  EXPECT_EQ(report.done, 20);
  const telemetry::StageStats& load = stage_of(report, Stage::load);
  EXPECT_TRUE(load.is_adaptive);
  EXPECT_GT(telemetry::total_time_s(load), report.pipeline_s);
  EXPECT_FALSE(stage_of(report, Stage::write).is_adaptive);
}

TEST(Pipeline, adds_write_threads_while_all_of_them_wait_for_the_disk) {
  PipelineHarness harness;
  harness.options.write_threads = 2;
  harness.options.max_write_threads = 4;
  harness.options.cores = 1000;
  SlowStep slow(3);
  harness.on_write = [&](int) { slow.pass(); };
  EXPECT_EQ(harness.run().done, 20);
}

TEST(Pipeline, stops_while_it_may_add_threads) {
  PipelineHarness harness;
  harness.options.max_load_threads = harness.options.max_write_threads = 4;
  harness.source_waits_at_end = true;
  harness.on_publish = [&](int) { harness.pipeline().request_stop(); };
  EXPECT_GE(harness.run().done, 1);
}

TEST(Pipeline, reports_progress) {
  PipelineHarness harness;
  harness.run();
  const telemetry::ProgressState progress = harness.pipeline().progress();
  EXPECT_EQ(progress.done, 20);
  EXPECT_EQ(progress.total, 20);
  EXPECT_TRUE(progress.is_total_final);
}

}  // namespace
}  // namespace eckart::test
