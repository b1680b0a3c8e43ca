// Each stage hangs in turn. The pipeline names the stage and its image, and loses no item when the
// stage continues.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>

#include "core/error.hpp"
#include "core/instant.hpp"
#include "tests/pipeline/fakes.hpp"

namespace eckart::test {
namespace {

using std::chrono::seconds;

/// Blocks a thread until the test calls open().
class Gate {
 public:
  void hang() {
    std::unique_lock lock(mutex_);
    reached_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_; });
  }
  void wait_until_reached() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return reached_; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool reached_ = false, open_ = false;
};

struct StageHang {
  const char* stage;
  std::function<void(PipelineHarness& harness, Hook hook)> put;
  bool is_item_known = true;
};

class HungStageTest : public ::testing::TestWithParam<StageHang> {
 protected:
  static constexpr int kHung = 7;
  void SetUp() override {
    harness_.options.limits = {.stall = seconds(5), .decode = seconds(1)};
    GetParam().put(harness_, [this](int number) {
      if (number == kHung) gate_.hang();
    });
    harness_.pipeline();
    run_ = std::async(std::launch::async, [this] { return harness_.run(); });
  }
  /// Simulates this time with one check per second.
  std::optional<pipeline::Activity::Stall> check_for(int seconds_long) {
    std::optional<pipeline::Activity::Stall> stall;
    for (int i = 0; i < seconds_long; ++i)
      stall = harness_.pipeline().activity().check(now_ += seconds(1));
    return stall;
  }

  static bool names_hung(const pipeline::Activity::Stall& stall) {
    return std::any_of(
        stall.files.begin(), stall.files.end(),
        [](const pipeline::Activity::File& file) { return file.file == std::to_string(kHung); });
  }

  Gate gate_;
  PipelineHarness harness_;
  std::future<telemetry::RunReport> run_;
  Instant now_ = Clock::now();
};

TEST_P(HungStageTest, is_reported_with_its_image_and_loses_nothing_when_it_resumes) {
  gate_.wait_until_reached();
  // Other threads may still be running a step, and finish soon.
  wait_until([&] {
    const std::optional<pipeline::Activity::Stall> stall = check_for(20);
    return stall && stall->stage == GetParam().stage &&
           names_hung(*stall) == GetParam().is_item_known;
  });
  gate_.open();
  EXPECT_EQ(run_.get().done, 20);
  EXPECT_EQ(harness_.written(), numbers(20));
  EXPECT_FALSE(harness_.pipeline().find_stall());
}

TEST_P(HungStageTest, is_reported_while_a_stop_waits) {
  gate_.wait_until_reached();
  harness_.pipeline().request_stop();
  wait_until([&] {
    return harness_.pipeline().describe_activity().starts_with(
        GetParam().stage);  // the other steps end
  });
  gate_.open();
  EXPECT_NO_THROW(run_.get());
}

const StageHang kHangs[] = {
    {"source", [](PipelineHarness& harness, Hook hook) { harness.on_next = std::move(hook); },
     false},
    {"load", [](PipelineHarness& harness, Hook hook) { harness.on_load = std::move(hook); }},
    {"batch",
     [](PipelineHarness& harness, Hook hook) {
       harness.options.load_threads = 1;  // so that images arrive in order
       harness.backend.on_batch_planes = [hook = std::move(hook), count = 0]() mutable {
         hook(count++);
       };
     }},
    {"compute",
     [](PipelineHarness& harness, Hook hook) { harness.backend.on_start = std::move(hook); }},
    {"compute",
     [](PipelineHarness& harness, Hook hook) { harness.backend.on_finish = std::move(hook); }},
    {"write", [](PipelineHarness& harness, Hook hook) { harness.on_write = std::move(hook); }},
    {"write", [](PipelineHarness& harness, Hook hook) { harness.on_publish = std::move(hook); }},
};
std::string stage_name_of(const ::testing::TestParamInfo<StageHang>& info) {
  return std::string(info.param.stage) + std::to_string(info.index);
}
INSTANTIATE_TEST_SUITE_P(Stage, HungStageTest, ::testing::ValuesIn(kHangs), stage_name_of);

TEST(IdlePipeline, is_reported_with_the_stage_that_an_image_waits_for) {
  PipelineHarness harness;
  harness.images = 1;
  harness.options.limits = {.stall = seconds(0), .decode = seconds(1)};
  harness.options.space_poll_interval = std::chrono::hours(1);
  std::atomic<bool> has_tried_to_load = false;
  harness.on_load = [&](int) {
    has_tried_to_load = true;
    throw EnvironmentError("too many open files", EnvironmentError::Remedy::release_resources);
  };
  harness.pipeline();
  auto run = std::async(std::launch::async, [&] { return harness.run(); });
  wait_until([&] { return has_tried_to_load.load(); });  // it is idle before, too
  wait_until([&] {
    const std::optional<pipeline::Activity::Stall> stall = harness.pipeline().find_stall();
    return stall && stall->kind == pipeline::Activity::StallKind::idle && stall->stage == "load";
  });
  harness.pipeline().request_stop();
  EXPECT_EQ(run.get().stopped_by, "too many open files");
  EXPECT_FALSE(harness.pipeline().find_stall());
}

TEST(IdlePipeline, is_not_reported_while_it_waits_for_disk_space) {
  PipelineHarness harness;
  harness.images = 1;
  harness.options.limits = {.stall = seconds(0), .decode = seconds(1)};
  harness.options.wait_for_space = true;
  harness.options.space_poll_interval = std::chrono::hours(1);
  harness.on_write = [](int) {
    throw EnvironmentError("no space left", EnvironmentError::Remedy::free_disk_space);
  };
  harness.pipeline();
  auto run = std::async(std::launch::async, [&] { return harness.run(); });
  wait_until([&] { return !harness.pipeline().missing_space().empty(); });
  wait_until([&] {
    EXPECT_FALSE(harness.pipeline().find_stall());
    return harness.pipeline().activity().idle_time() > harness.options.linger;
  });
  harness.pipeline().request_stop();
  EXPECT_EQ(run.get().done, 0);
}

TEST(CanceledTask, is_left_to_the_next_run) {
  PipelineHarness harness;
  harness.images = 10;
  harness.backend.should_cancel = [](int number) { return number >= 6; };
  const telemetry::RunReport report = harness.run();
  EXPECT_EQ(report.done, 6);
  EXPECT_EQ(report.failed, 0);
  EXPECT_TRUE(report.interrupted);
  EXPECT_EQ(harness.written(), numbers(6));
}

}  // namespace
}  // namespace eckart::test
