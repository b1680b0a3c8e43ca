// Tests which steps are stalled, with a clock that the test controls.
#include "pipeline/activity.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "core/image.hpp"
#include "core/instant.hpp"
#include "pipeline/step_limits.hpp"
#include "tests/pipeline/fakes.hpp"

namespace eckart::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class ActivityTest : public ::testing::Test {
 protected:
  /// Calls check() once per second, like the program, for this number of seconds.
  std::optional<pipeline::Activity::Stall> check_for(int seconds_long) {
    std::optional<pipeline::Activity::Stall> stall;
    for (int i = 0; i < seconds_long; ++i) stall = activity_.check(now_ += seconds(1));
    return stall;
  }
  pipeline::Activity::Step step(seconds limit) const {
    return {"load", limit, {{file_, relative_}}};
  }

  std::int64_t idle_time_s() const {
    return std::chrono::round<seconds>(activity_.idle_time()).count();
  }

  const std::filesystem::path file_ = "in/a.png", relative_ = "a.png";
  pipeline::Activity activity_;
  Instant now_ = Clock::now();
};

TEST_F(ActivityTest, names_a_step_that_lasts_longer_than_its_limit_as_stalled) {
  const pipeline::Activity::Scope scope(activity_, step(seconds(10)));
  EXPECT_FALSE(check_for(10));
  const auto stall = check_for(2);
  ASSERT_TRUE(stall);
  EXPECT_EQ(stall->stage, "load");
  EXPECT_EQ(stall->files.at(0).relative, "a.png");
  EXPECT_EQ(stall->age, seconds(11));
  EXPECT_EQ(to_string(*stall), "load has been running on in/a.png for 11 s, longer than its limit");
}

TEST(Stall, says_that_nothing_runs_if_the_pipeline_is_idle) {
  const pipeline::Activity::Stall idle{.kind = pipeline::Activity::StallKind::idle,
                                       .stage = to_string(Stage::compute),
                                       .age = seconds(203)};
  EXPECT_EQ(to_string(idle), "images wait for compute, but no thread has processed any for 203 s");
}

TEST_F(ActivityTest, has_not_stalled_when_its_step_has_ended) {
  { const pipeline::Activity::Scope scope(activity_, step(seconds(10))); }
  EXPECT_FALSE(check_for(100));
}

TEST_F(ActivityTest, does_not_count_an_intended_wait) {
  pipeline::Activity::Scope scope(activity_, step(seconds(10)));
  EXPECT_FALSE(check_for(8));
  scope.exclude_wait([&] { EXPECT_FALSE(check_for(100)); });
  EXPECT_FALSE(check_for(8));
  EXPECT_TRUE(check_for(5));
}

TEST_F(ActivityTest, has_not_stalled_in_a_suspended_process) {
  const pipeline::Activity::Scope scope(activity_, step(seconds(10)));
  EXPECT_FALSE(activity_.check(now_ += seconds(1)));
  EXPECT_FALSE(activity_.check(now_ += std::chrono::hours(9))) << "SIGSTOP, or a laptop's lid";
  EXPECT_FALSE(check_for(3));
  EXPECT_TRUE(check_for(3));
}

TEST_F(ActivityTest, reports_the_step_with_the_largest_overrun) {
  const pipeline::Activity::Scope a(activity_, {"load", seconds(5)}),
      b(activity_, {"write", seconds(2)}), c(activity_, {"batch", seconds(3)});
  EXPECT_EQ(check_for(4)->stage, "write");
}

TEST_F(ActivityTest, has_stalled_before_its_limit_if_a_computing_thread_uses_no_cpu) {
  const pipeline::Activity::Scope scope(activity_,
                                        {"compute", std::chrono::hours(1), {}, seconds(3)});
  const auto burn = [] {
    const auto cpu = [] {
      timespec time{};
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
      return seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
    };
    for (const auto start = cpu(); cpu() - start < milliseconds(20);) {
    }
  };
  for (int i = 0; i < 10; ++i) {
    burn();
    EXPECT_FALSE(check_for(1)) << "it computes";
  }
  EXPECT_TRUE(check_for(5)) << "it does not";
}

TEST_F(ActivityTest, counts_idle_time_while_no_step_runs) {
  check_for(4);
  EXPECT_EQ(idle_time_s(), 4);
  {
    const pipeline::Activity::Scope scope(activity_, step(seconds(100)));
    check_for(4);
    EXPECT_EQ(idle_time_s(), 0);
  }
  check_for(1);
  EXPECT_EQ(idle_time_s(), 0) << "one has just ended";
  check_for(2);
  EXPECT_EQ(idle_time_s(), 2);
}

/// The maintenance of a service runs every second, and must not hide that an item was lost.
TEST_F(ActivityTest, counts_idle_time_during_other_steps_which_may_stall) {
  pipeline::Activity::Step maintenance{"maintenance", seconds(10)};
  maintenance.is_image_work = false;
  for (int i = 0; i < 4; ++i) {
    { const pipeline::Activity::Scope scope(activity_, maintenance); }
    check_for(1);
  }
  const pipeline::Activity::Scope scope(activity_, maintenance);
  check_for(1);
  EXPECT_EQ(idle_time_s(), 5);
  EXPECT_TRUE(check_for(11));
}

TEST_F(ActivityTest, describes_running_steps) {
  EXPECT_EQ(activity_.describe(), "");
  const pipeline::Activity::Scope a(activity_, step(seconds(5))),
      b(activity_, {"write", seconds(2)});
  EXPECT_EQ(activity_.describe(), "load of in/a.png for 0 s, write for 0 s");
}

TEST(StepLimit, grows_with_the_work) {
  const pipeline::StepLimits limits{.stall = seconds(100), .decode = seconds(20)};
  pipeline::WorkItem item;
  EXPECT_EQ(limits.load(item), seconds(120));
  item.file_state.size = 50'000'000;
  EXPECT_EQ(limits.load(item), seconds(150)) << "5 MB a second is a slow disk";
  item.image_shape = {1000, 1000, 1, Depth::u8};
  item.task.outputs.resize(5);
  EXPECT_EQ(limits.write(item), seconds(101));
  item.output_bytes = {10'000'000, 15'000'000};
  EXPECT_EQ(limits.publish(item), seconds(15)) << "besides what all of a group have";

  pipeline::Batch batch{.key = {{512, 512}, {}}, .planes = 1};
  EXPECT_LT(limits.compute(batch), seconds(110));
  batch = {.key = {{16384, 16384}, {}}, .planes = 3};
  EXPECT_GT(limits.compute(batch), std::chrono::hours(24)) << "hours of LAPACK on one core";
}

TEST_F(ActivityTest, describes_the_longest_steps_and_counts_the_others) {
  const std::filesystem::path names[] = {"a0", "a1", "a2"};
  const auto files = [&](int count) {
    std::vector<pipeline::Activity::FileOfStep> all;
    for (int i = 0; i < count; ++i) all.push_back({names[i], relative_});
    return all;
  };
  const pipeline::Activity::Scope a(activity_, {"load", seconds(5), files(3)}),
      b(activity_, {"write", seconds(2)}), c(activity_, {"compute", seconds(2), files(1)}),
      d(activity_, {"batch", seconds(2)}), e(activity_, {"batch", seconds(2)});
  EXPECT_EQ(activity_.describe(),
            "load of a0 and 2 more for 0 s, write for 0 s, compute of a0 for 0 s, and 2 more");
  EXPECT_EQ(activity_.describe_longest(seconds(0)), "load for 0 s");
  EXPECT_EQ(activity_.describe_longest(seconds(100)), "");
}

/// Those of one thread are in order in any case.
TEST_F(ActivityTest, describes_steps_of_all_threads_by_their_age) {
  pipeline::Activity::Scope own(activity_, {"own", seconds(5)});
  for (int i = 0; i < 40; ++i) {
    std::thread([&] {
      const pipeline::Activity::Scope other(activity_, {"other", seconds(5)});
      EXPECT_TRUE(activity_.describe().starts_with("own for")) << activity_.describe();
    }).join();
  }
  own.exclude_wait([&] {
    EXPECT_EQ(activity_.describe(), "") << "it waits";
    EXPECT_EQ(activity_.describe_longest(seconds(0)), "");
  });
}

/// A service finds by these which input has blocked it.
TEST_F(ActivityTest, tells_the_files_of_a_stalled_step) {
  pipeline::WorkItem item;
  item.file = "in/a.png", item.relative = "a.png", item.job = 3;
  item.file_state = {.size = 5, .mtime_ns = 6, .inode = 7};
  const pipeline::Activity::Scope scope(activity_,
                                        {"load", seconds(1), {pipeline::to_activity_file(item)}});
  const auto stall = check_for(3);
  ASSERT_TRUE(stall);
  ASSERT_EQ(stall->files.size(), 1U);
  EXPECT_EQ(stall->files[0].file, "in/a.png");
  EXPECT_EQ(stall->files[0].relative, "a.png");
  EXPECT_EQ(stall->files[0].job, 3);
  EXPECT_EQ(stall->files[0].state, item.file_state);
}

}  // namespace
}  // namespace eckart::test
