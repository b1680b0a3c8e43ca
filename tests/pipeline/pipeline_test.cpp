// A run as it should be: everything comes out, memory stays in its bounds, a stop loses nothing.
#include "pipeline/pipeline.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <thread>

#include "tests/pipeline/fakes.hpp"

namespace eckart::test {
namespace {

TEST(Pipeline, writes_every_image_once) {
  for (const int slots : {1, 2}) {
    Rig rig;
    rig.backend.slot_count = slots;
    rig.backend.planes = 3;
    const telemetry::RunReport report = rig.run();
    EXPECT_EQ(rig.written(), numbers(20));
    EXPECT_EQ(report.done, 20);
    EXPECT_EQ(report.failed, 0);
    EXPECT_EQ(report.outputs, 20);
    EXPECT_EQ(report.pixels, 20 * kSmall.rows * kSmall.cols);
    EXPECT_EQ(report.backend, "fake");
    EXPECT_FALSE(report.interrupted);
  }
}

TEST(Pipeline, ends_when_there_is_nothing_to_do) {
  Rig rig;
  rig.images = 0;
  const telemetry::RunReport report = rig.run();
  EXPECT_EQ(report.images(), 0);
  EXPECT_FALSE(report.interrupted);
}

TEST(Pipeline, does_not_wait_for_a_batch_to_fill_once_all_is_loaded) {
  Rig rig;
  rig.backend.planes = 1000;
  rig.options.linger = std::chrono::hours(1);
  rig.run();
  EXPECT_EQ(rig.written(), numbers(20));
}

TEST(Pipeline, does_not_wait_for_company_where_nothing_is_on_its_way) {
  Rig rig;
  rig.images = 2;
  rig.backend.planes = 1000;
  rig.options.linger = std::chrono::hours(1);
  std::atomic<bool> first_written = false;
  rig.on_next = [&](int number) {
    if (number == 1) wait_until([&] { return first_written.load(); });
  };
  rig.on_write = [&](int) { first_written = true; };
  rig.run();
  EXPECT_EQ(rig.written(), numbers(2));
}

/// The source is not at its end, so that the second image waits for whatever is on its way.
TEST(Pipeline, does_not_wait_for_an_image_that_could_not_be_loaded) {
  for (const Result result : {Result::failed, Result::skipped, Result::deferred}) {
    Rig rig;
    rig.images = 2;
    rig.source_waits_at_end = true;
    rig.backend.planes = 1000;
    rig.options.linger = std::chrono::seconds(5);
    rig.outcome_of_load = [&](int number) {
      return number == 0 ? Outcome{result, Stage::load, Reason::corrupt, "as the test wants it"}
                         : Outcome();
    };
    rig.on_next = [&](int number) {  // the first has come to its end
      const auto is_counted = [&] {
        const telemetry::ProgressState progress = rig.pipeline().progress();
        return progress.done == progress.total;
      };
      if (number == 1) wait_until([&] { return is_counted(); });
    };
    rig.on_write = [&](int) { rig.pipeline().request_stop(); };
    const auto start = std::chrono::steady_clock::now();
    rig.run();
    EXPECT_LT(std::chrono::steady_clock::now() - start, rig.options.linger);
    EXPECT_EQ(rig.written(), std::vector{1});
  }
}

/// So that they share an fsync, and a transaction of the ledger.
TEST(Pipeline, publishes_in_groups_what_is_finished) {
  Rig rig;
  rig.options.write_threads = 1;
  rig.options.publish_group = 4;
  const auto is_waiting = [&] {
    for (const telemetry::QueueRow& queue : rig.pipeline().snapshot().queues) {
      if (queue.name == "finished") return queue.images >= 19;
    }
    return false;
  };
  std::atomic<bool> first = true;
  rig.on_write = [&](int) {
    if (first.exchange(false)) wait_until(is_waiting);
  };
  int published = 0;
  std::vector<int> groups;
  rig.on_publish = [&](int) { ++published; };
  rig.on_record = [&](int) {
    if (published > 0) groups.push_back(std::exchange(published, 0));
  };
  rig.run();
  EXPECT_EQ(groups, std::vector<int>(5, 4));
}

TEST(Pipeline, does_not_count_what_is_deferred) {
  Rig rig;
  rig.outcome_of_load = [](int number) {
    return number % 2 ? Outcome::deferred(Stage::load, Reason::corrupt, "half of it is there")
                      : Outcome();
  };
  const telemetry::RunReport report = rig.run();
  EXPECT_EQ(report.images(), 10);
  EXPECT_FALSE(report.interrupted);
  EXPECT_EQ(rig.pipeline().progress().total, 10);
}

TEST(Pipeline, sends_a_batch_off_when_its_time_is_over) {
  Rig rig;
  rig.images = 2;
  rig.backend.planes = 1000;
  std::atomic<bool> first_written = false;
  rig.on_load = [&](int number) {  // on its way, so that the first waits for it
    if (number == 1) wait_until([&] { return first_written.load(); });
  };
  rig.on_write = [&](int) { first_written = true; };
  rig.run();
  EXPECT_EQ(rig.written(), numbers(2));
}

TEST(Pipeline, accounts_for_the_whole_time_of_every_worker) {
  Rig rig;
  rig.images = 200;
  rig.options.write_threads = 3;
  rig.backend.lane_count = 2;
  using Clock = std::chrono::steady_clock;
  const auto in_seconds = [](Clock::duration time) {
    return std::chrono::duration<double>(time).count();
  };
  std::atomic<Clock::time_point> first_found = Clock::time_point::max();
  std::atomic<Clock::time_point> last_written = Clock::time_point::min();
  rig.on_next = [&](int number) {
    if (number == 0) first_found = Clock::now();
  };
  rig.on_write = [&](int) {
    std::this_thread::sleep_for(std::chrono::microseconds(500));
    last_written = Clock::now();
  };
  const auto start = Clock::now();
  const telemetry::RunReport report = rig.run();
  const double wall_s = in_seconds(Clock::now() - start);
  const double working_s = in_seconds(last_written.load() - first_found.load());
  ASSERT_GT(working_s, 100 * 0.0005 / 3);
  ASSERT_EQ(report.stages.size(), 5u);
  for (const telemetry::StageRow& stage : report.stages) {
    const double sum = stage.busy_s + stage.waiting_for_input_s + stage.waiting_for_room_s;
    EXPECT_GE(sum, stage.workers * working_s) << stage.name;
    EXPECT_LE(sum, stage.workers * wall_s) << stage.name;
  }
  EXPECT_EQ(report.stages.back().name, "write");
  EXPECT_GE(report.stages.back().busy_s, 200 * 0.0005);
  EXPECT_LE(report.stages.back().busy_s, 3 * wall_s);
}

TEST(Pipeline, drains_when_every_channel_is_full) {
  // 256 + 256 + 1024 items fit into the channels, a few more into the workers' hands.
  constexpr int kFull = 1500;
  Rig rig;
  rig.images = 2 * kFull;
  std::atomic<int> asked_for = 0;
  rig.on_next = [&](int number) { asked_for = number; };
  rig.on_write = [&](int) { wait_until([&] { return asked_for >= kFull; }); };
  EXPECT_EQ(rig.run().done, 2 * kFull);
  EXPECT_EQ(rig.written(), numbers(2 * kFull));
}

TEST(Pipeline, holds_no_more_than_the_budget_while_the_writer_is_slow) {
  constexpr int kFit = 5;
  Rig rig;
  rig.options.load_threads = 3;
  rig.options.budget_bytes = std::size_t(kFit) * 2 * kSmall.bytes();
  std::atomic<int> asked = 0, held = 0, most = 0;
  rig.on_load = [&](int) { ++asked; };
  rig.on_reserved = [&](int) {
    const int now = ++held;
    for (int before = most; before < now && !most.compare_exchange_weak(before, now);) {
    }
  };
  rig.on_write = [&](int) {
    wait_until([&] { return asked > kFit; });  // one more wants in, and cannot
    --held;
  };
  EXPECT_EQ(rig.run().done, 20);
  EXPECT_LE(most, kFit);
  EXPECT_GE(most, 1);
}

TEST(Pipeline, lets_an_image_larger_than_the_budget_through_alone) {
  Rig rig;
  rig.options.load_threads = 4;
  rig.options.budget_bytes = 4 * kSmall.bytes();
  rig.shape_of = [](int number) {
    return number % 5 == 3 ? ImageShape{100, 100, 3, Depth::u16} : kSmall;
  };
  std::atomic<int> held = 0;
  std::atomic<bool> alone = true;
  rig.on_reserved = [&](int number) {
    if (++held > 1 && number % 5 == 3) alone = false;
  };
  rig.on_write = [&](int) { --held; };
  EXPECT_EQ(rig.run().done, 20);
  EXPECT_TRUE(alone);
}

TEST(Pipeline, finishes_what_is_computed_when_it_is_stopped) {
  Rig rig;
  rig.images = 100000;
  rig.on_write = [&](int number) {
    if (number >= 300) rig.pipeline().request_stop();
  };
  const telemetry::RunReport report = rig.run();
  EXPECT_TRUE(report.interrupted);
  EXPECT_EQ(rig.written(), rig.backend.started());
  EXPECT_EQ(report.done, std::int64_t(rig.written().size()));
  EXPECT_EQ(report.images(), report.done + report.failed);
  EXPECT_GT(report.done, 0);
  EXPECT_LT(report.done, 10000);
}

/// What is only decoded may be a budget full of work.
TEST(Pipeline, gives_up_what_is_only_decoded_when_it_is_stopped) {
  Rig rig;
  rig.images = 1000;
  rig.backend.on_finish = [&](int) {
    wait_until([&] { return rig.loaded().size() >= 100; });
    rig.pipeline().request_stop();
  };
  const telemetry::RunReport report = rig.run();
  EXPECT_TRUE(report.interrupted);
  EXPECT_EQ(rig.written(), rig.backend.started());
  EXPECT_LT(report.done, 20);
}

/// What is decoded waits for the backend with all of the budget, and a loader for some of it.
TEST(Pipeline, can_be_stopped_while_the_backend_is_made) {
  Rig rig;
  rig.images = 1000;
  rig.options.budget_bytes = 1;
  rig.make_backend = [&]() -> Backend& {
    wait_until([&] { return !rig.loaded().empty(); });
    rig.pipeline().request_stop();
    return rig.backend;
  };
  const telemetry::RunReport report = rig.run();
  EXPECT_TRUE(report.interrupted);
  EXPECT_EQ(rig.written(), rig.backend.started());
}

TEST(Pipeline, can_be_stopped_before_it_starts) {
  Rig rig;
  rig.pipeline().request_stop();
  const telemetry::RunReport report = rig.run();
  EXPECT_EQ(report.images(), 0);
  EXPECT_TRUE(report.interrupted);
}

TEST(Pipeline, can_be_stopped_while_the_source_waits) {
  Rig rig;
  rig.source_waits_at_end = true;
  rig.on_write = [&](int number) {
    if (number == 19) rig.pipeline().request_stop();
  };
  rig.options.load_threads = rig.options.write_threads = 1;
  const telemetry::RunReport report = rig.run();
  EXPECT_EQ(report.done, 20);
  EXPECT_TRUE(report.interrupted);
}

TEST(Pipeline, can_be_stopped_while_everyone_waits_for_room) {
  Rig rig;
  rig.images = 3000;
  rig.options.budget_bytes = 1;
  std::atomic<int> asked_for = 0;
  rig.on_next = [&](int number) { asked_for = number; };
  rig.on_write = [&](int) {
    wait_until([&] { return asked_for >= 250; });
    rig.pipeline().request_stop();
  };
  const telemetry::RunReport report = rig.run();
  EXPECT_EQ(rig.written(), rig.backend.started());
  EXPECT_LT(report.images(), 3000);
}

TEST(Pipeline, was_not_interrupted_by_a_stop_after_the_last_image) {
  Rig rig;
  std::atomic<int> writes = 0;
  rig.on_write = [&](int) {
    if (++writes == 20) rig.pipeline().request_stop();
  };
  const telemetry::RunReport report = rig.run();
  EXPECT_EQ(report.done, 20);
  EXPECT_FALSE(report.interrupted);
}

TEST(Pipeline, tells_how_far_it_is) {
  Rig rig;
  rig.run();
  const telemetry::ProgressState progress = rig.pipeline().progress();
  EXPECT_EQ(progress.done, 20);
  EXPECT_EQ(progress.total, 20);
  EXPECT_TRUE(progress.total_is_final);
}

}  // namespace
}  // namespace eckart::test
