#include "pipeline/in_flight_batches.hpp"

#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "tests/pipeline/fakes.hpp"
#include "tests/support/waiting_thread.hpp"

namespace eckart::test {
namespace {

class InFlightBatchesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    steps_.device_lost_hook = [this](const pipeline::InFlightBatches::Items& items) {
      ++times_;
      for (const pipeline::WorkItem* item : items) lost_.push_back(number_of(*item));
    };
  }
  static pipeline::Batch batch(int number, bool suspect = false) {
    pipeline::Batch batch{.key = {compute::padded_shape(kSmall, 32), {}}, .planes = 1};
    batch.items.push_back(make_item(number));
    batch.items.back()->is_suspect = suspect;
    return batch;
  }

  std::vector<int> lost_;
  int times_ = 0;
  FakeBackend backend_;
  FakeSteps steps_{backend_};
  pipeline::InFlightBatches in_flight_batches_{steps_};
  const pipeline::Batch first_ = batch(1), second_ = batch(2), suspect_ = batch(3, true);
};

TEST_F(InFlightBatchesTest, allows_concurrent_batches) {
  const auto first = in_flight_batches_.try_begin(first_);
  const auto second = in_flight_batches_.try_begin(second_);
  EXPECT_TRUE(first && second);
}

TEST_F(InFlightBatchesTest, lets_a_suspect_begin_when_all_others_have_ended) {
  auto first = in_flight_batches_.begin(first_);
  EXPECT_FALSE(in_flight_batches_.try_begin(suspect_));
  first.reset();
  const auto suspect = in_flight_batches_.try_begin(suspect_);
  EXPECT_TRUE(suspect);
  EXPECT_FALSE(in_flight_batches_.try_begin(first_)) << "while it is computed";
}

TEST_F(InFlightBatchesTest, blocks_later_batches_while_a_suspect_waits) {
  auto first = in_flight_batches_.begin(first_);
  WaitingThread waits([&] { EXPECT_TRUE(in_flight_batches_.begin(suspect_)); });
  wait_until([&] { return !in_flight_batches_.try_begin(second_); });
  first.reset();
  waits.join();
  EXPECT_TRUE(in_flight_batches_.try_begin(second_));
}

/// The callback writes to the ledger, on a disk that may be slow.
TEST(InFlightBatches, answers_while_it_reports_and_keeps_its_items_until_then) {
  std::promise<void> release;
  bool idle = true;
  FakeBackend backend;
  FakeSteps steps(backend);
  pipeline::InFlightBatches in_flight_batches(steps);
  steps.device_lost_hook = [&](const pipeline::InFlightBatches::Items&) {
    idle = std::async(std::launch::async, [&] { return in_flight_batches.is_idle(); }).get();
    release.get_future().wait();
  };
  pipeline::Batch batch{.key = {compute::padded_shape(kSmall, 32), {}}, .planes = 1};
  batch.items.push_back(make_item(1));
  auto in_flight = in_flight_batches.begin(batch);
  WaitingThread reports([&] { in_flight_batches.report_device_lost(); });
  wait_until([&] { return !in_flight_batches.try_begin(batch); });
  WaitingThread ends([&] { in_flight.reset(); });
  EXPECT_TRUE(ends.wait_until_asleep()) << "its items may not go yet";
  release.set_value();
  ends.join();
  reports.join();
  EXPECT_FALSE(idle);
  EXPECT_TRUE(in_flight_batches.is_idle());
}

TEST_F(InFlightBatchesTest, reports_batches_once_on_device_loss_and_ends_all_waits) {
  const auto first = in_flight_batches_.begin(first_);
  WaitingThread waits([&] { EXPECT_FALSE(in_flight_batches_.begin(suspect_)); });
  in_flight_batches_.report_device_lost();
  in_flight_batches_.report_device_lost();
  waits.join();
  EXPECT_EQ(times_, 1);
  EXPECT_EQ(lost_, std::vector{1});
  EXPECT_FALSE(in_flight_batches_.try_begin(second_));
}

TEST_F(InFlightBatchesTest, reports_the_loss_of_the_device_even_if_the_items_cannot_be_recorded) {
  steps_.device_lost_hook = [](const pipeline::InFlightBatches::Items&) {
    throw EnvironmentError("the ledger is gone");
  };
  const auto first = in_flight_batches_.begin(first_);
  EXPECT_NO_THROW(in_flight_batches_.report_device_lost());
}

}  // namespace
}  // namespace eckart::test
