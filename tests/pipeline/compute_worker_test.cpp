#include "pipeline/compute_worker.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

#include "tests/pipeline/fakes.hpp"

namespace eckart::test {
namespace {

using Calls = std::vector<std::string>;

class ComputeWorkerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    steps_.device_lost_hook = [this](const pipeline::InFlightBatches::Items& items) {
      for (const pipeline::WorkItem* item : items) lost_.push_back(number_of(*item));
    };
    backend_.on_start = [this](int number) { calls_.push_back("start " + std::to_string(number)); };
    backend_.on_finish = [this](int number) {
      calls_.push_back("finish " + std::to_string(number));
    };
  }

  void put(int number, bool suspect = false) {
    pipeline::Batch batch{.key = {compute::padded_shape(kSmall, 32), {}}, .planes = 1};
    batch.items.push_back(make_item(number));
    batch.items.back()->is_suspect = suspect;
    in_.push(std::move(batch));
  }
  void work() {
    flow::StageClock::Worker clock(clock_, 0);
    pipeline::LaneTrace none;
    pipeline::ComputeWorker(backend_.make_lane(0),
                            {in_,
                             out_,
                             in_flight_batches_,
                             input_decoding_,
                             meters_,
                             activity_,
                             test_options(1, 1).limits,
                             {}},
                            clock, none)
        .run();
  }
  /// Computes four batches, one after the other.
  void work_on_four() {
    for (int i = 0; i < 4; ++i) put(i);
    in_.close();
    work();
  }

  FakeBackend backend_;
  pipeline::BatchChannel in_{16};
  pipeline::ItemChannel out_{16};
  std::vector<int> lost_;
  FakeSteps steps_{backend_};
  pipeline::InFlightBatches in_flight_batches_{steps_};
  pipeline::InputDecoding input_decoding_{1};
  pipeline::Meters meters_;
  pipeline::Activity activity_;
  flow::StageClock clock_{1};
  Calls calls_;
};

TEST_F(ComputeWorkerTest, keeps_both_slots_filled) {
  work_on_four();
  EXPECT_EQ(calls_, (Calls{"start 0", "start 1", "finish 0", "start 2", "finish 1", "start 3",
                           "finish 2", "finish 3"}));
  EXPECT_EQ(out_.size(), 4u);
}

TEST_F(ComputeWorkerTest, alternates_start_and_finish_with_one_slot) {
  backend_.slot_count = 1;
  work_on_four();
  EXPECT_EQ(calls_, (Calls{"start 0", "finish 0", "start 1", "finish 1", "start 2", "finish 2",
                           "start 3", "finish 3"}));
}

TEST_F(ComputeWorkerTest, reuses_the_slot_of_a_batch_that_did_not_start) {
  backend_.on_start = [this](int number) {
    calls_.push_back("start " + std::to_string(number));
    if (number == 1) throw std::runtime_error("no memory");
  };
  work_on_four();
  EXPECT_EQ(calls_, (Calls{"start 0", "start 1", "start 2", "finish 0", "start 3", "finish 2",
                           "finish 3"}));
  int failed = 0;
  while (auto item = out_.try_pop()) failed += !(*item)->outcome.ok();
  EXPECT_EQ(failed, 1);
}

TEST_F(ComputeWorkerTest, computes_a_suspect_alone) {
  put(0);
  put(1);
  put(2, true);
  put(3);
  in_.close();
  work();
  EXPECT_EQ(calls_, (Calls{"start 0", "start 1", "finish 0", "finish 1", "start 2", "finish 2",
                           "start 3", "finish 3"}));
}

TEST_F(ComputeWorkerTest, reports_batches_in_flight_on_device_loss) {
  backend_.on_finish = [](int number) {
    if (number == 1) throw DeviceLostError("error 719");
  };
  EXPECT_THROW(work_on_four(), DeviceLostError);
  EXPECT_EQ(lost_, (std::vector{1, 2}));
  EXPECT_EQ(out_.size(), 1U) << "what was finished before";
}

TEST_F(ComputeWorkerTest, ends_when_another_lane_has_lost_the_device) {
  in_flight_batches_.report_device_lost();
  work_on_four();
  EXPECT_TRUE(calls_.empty());
}

TEST_F(ComputeWorkerTest, does_not_delay_a_result_to_wait_for_more) {
  put(7);
  std::thread worker([this] { work(); });
  EXPECT_EQ(number_of(**out_.pop()), 7);  // in_ is still open
  in_.close();
  worker.join();
}

TEST_F(ComputeWorkerTest, ends_when_its_output_is_closed) {
  out_.close();
  work_on_four();
  EXPECT_TRUE(in_.is_finished());
}

}  // namespace
}  // namespace eckart::test
