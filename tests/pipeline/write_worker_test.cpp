#include "pipeline/write_worker.hpp"

#include <gtest/gtest.h>

#include <span>
#include <vector>

#include "tests/pipeline/fakes.hpp"

namespace eckart::test {
namespace {

using pipeline::ItemPtr;
using pipeline::ItemState;

/// One writer of several, which the test runs alone.
class WriteWorkerTest : public testing::Test {
 protected:
  WriteWorkerTest() {
    options_.write_threads = 2;
    steps_.on_write = [this](pipeline::WorkItem& item) {
      written_.push_back(number_of(item));
      call(on_write_, number_of(item));
    };
    steps_.on_publish = [this](std::span<ItemPtr> group) {
      groups_.push_back(int(group.size()));
      for (ItemPtr& item : group) {
        item->advance(ItemState::published);
        item->advance(ItemState::recorded);
      }
    };
  }
  void add(int count) {
    for (int i = 0; i < count; ++i) {
      ItemPtr item = make_item(i);
      item->outputs = {"out"};
      item->advance(ItemState::computed);
      in_.push(std::move(item));
    }
  }
  void run() {
    pipeline::WriteStage stage{steps_,
                               options_,
                               in_,
                               tally_,
                               meters_,
                               activity_,
                               pipeline::SpaceMonitor(false, options_.space_poll_interval, {})};
    flow::StageClock clock(1);
    flow::StageClock::Worker worker_clock(clock, 0);
    pipeline::ThreadTrace trace(nullptr, Stage::write, 0);
    pipeline::WriteWorker(stage, worker_clock, trace).run();
  }

  FakeBackend backend_;
  FakeSteps steps_{backend_};
  pipeline::PipelineOptions options_ = test_options(1, 1);
  pipeline::ItemChannel in_{100};
  pipeline::Meters meters_;
  pipeline::Tally tally_{meters_};
  pipeline::Activity activity_;
  Hook on_write_;
  std::vector<int> written_, groups_;
};

TEST_F(WriteWorkerTest, leaves_most_of_the_queue_to_the_others) {
  options_.write_threads = 4;
  options_.publish_group_files = 32;
  add(80);
  on_write_ = [&](int number) {
    if (number == 0) {
      EXPECT_EQ(in_.size(), 70u);
    }
    if (number == 79) in_.close();
  };
  run();
  EXPECT_EQ(written_.size(), 80u);
  EXPECT_EQ(groups_, (std::vector<int>{32, 32, 16}));
}

TEST_F(WriteWorkerTest, publishes_as_many_files_as_configured_at_once) {
  options_.publish_group_files = 5;
  add(40);
  in_.close();
  run();
  EXPECT_EQ(groups_, std::vector<int>(8, 5));
}

TEST_F(WriteWorkerTest, drops_what_it_has_taken_if_the_run_fails) {
  add(40);
  on_write_ = [&](int) {
    EXPECT_EQ(in_.size(), 30u);
    in_.cancel();
  };
  run();
  EXPECT_EQ(written_, std::vector<int>{0});
}

}  // namespace
}  // namespace eckart::test
