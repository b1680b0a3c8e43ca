// Each stage hangs in turn: the pipeline names it and its image, and loses nothing when it goes on.
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>

#include "tests/pipeline/fakes.hpp"

namespace eckart::test {
namespace {

using std::chrono::seconds;

/// A door that a thread hangs at until it is opened.
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

struct Hang {
  const char* stage;
  std::function<void(Rig& rig, Hook hook)> put;
  bool names_it = true;
};

class HungStage : public ::testing::TestWithParam<Hang> {
 protected:
  static constexpr int kHung = 7;
  void SetUp() override {
    rig_.options.limits = {.stall = seconds(5), .decode = seconds(1)};
    GetParam().put(rig_, [this](int number) {
      if (number == kHung) gate_.hang();
    });
    rig_.pipeline();
    run_ = std::async(std::launch::async, [this] { return rig_.run(); });
  }
  /// As if so much time had passed, with a look each second.
  std::optional<Activity::Stall> look_for(int seconds_long) {
    std::optional<Activity::Stall> stall;
    for (int i = 0; i < seconds_long; ++i)
      stall = rig_.pipeline().activity().check(now_ += seconds(1));
    return stall;
  }

  static bool names_hung(const Activity::Stall& stall) {
    return std::any_of(stall.files.begin(), stall.files.end(), [](const Activity::File& file) {
      return file.file == std::to_string(kHung);
    });
  }

  Gate gate_;
  Rig rig_;
  std::future<telemetry::RunReport> run_;
  Activity::Clock::time_point now_ = Activity::Clock::now();
};

TEST_P(HungStage, is_named_with_its_image_and_loses_nothing_when_it_goes_on) {
  gate_.wait_until_reached();
  // Other threads, those of this stage too, may be in the middle of something, and soon are not.
  wait_until([&] {
    const std::optional<Activity::Stall> stall = look_for(20);
    return stall && stall->stage == GetParam().stage && names_hung(*stall) == GetParam().names_it;
  });
  gate_.open();
  EXPECT_EQ(run_.get().done, 20);
  EXPECT_EQ(rig_.written(), numbers(20));
  EXPECT_FALSE(rig_.pipeline().find_stall());
}

TEST_P(HungStage, is_what_a_stop_waits_for) {
  gate_.wait_until_reached();
  rig_.pipeline().request_stop();
  wait_until([&] {
    return rig_.pipeline().activity_text().starts_with(GetParam().stage);  // and the others end
  });
  gate_.open();
  EXPECT_NO_THROW(run_.get());
}

const Hang kHangs[] = {
    {"source", [](Rig& rig, Hook hook) { rig.on_next = std::move(hook); }, false},
    {"load", [](Rig& rig, Hook hook) { rig.on_load = std::move(hook); }},
    {"batch",
     [](Rig& rig, Hook hook) {
       rig.options.load_threads = 1;  // so that images come in their order
       rig.backend.on_batch = [hook = std::move(hook), count = 0]() mutable { hook(count++); };
     }},
    {"compute", [](Rig& rig, Hook hook) { rig.backend.on_start = std::move(hook); }},
    {"compute", [](Rig& rig, Hook hook) { rig.backend.on_finish = std::move(hook); }},
    {"write", [](Rig& rig, Hook hook) { rig.on_write = std::move(hook); }},
    {"write", [](Rig& rig, Hook hook) { rig.on_publish = std::move(hook); }},
};
std::string stage_name_of(const ::testing::TestParamInfo<Hang>& info) {
  return std::string(info.param.stage) + std::to_string(info.index);
}
INSTANTIATE_TEST_SUITE_P(InTurn, HungStage, ::testing::ValuesIn(kHangs), stage_name_of);

TEST(GivenUp, is_neither_done_nor_failed_and_left_to_the_next_run) {
  Rig rig;
  rig.images = 10;
  rig.backend.gives_up = [](int number) { return number >= 6; };
  const telemetry::RunReport report = rig.run();
  EXPECT_EQ(report.done, 6);
  EXPECT_EQ(report.failed, 0);
  EXPECT_TRUE(report.interrupted);
  EXPECT_EQ(rig.written(), numbers(6));
}

}  // namespace
}  // namespace eckart::test
