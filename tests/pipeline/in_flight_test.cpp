#include "pipeline/in_flight.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "tests/pipeline/fakes.hpp"
#include "tests/support/waiting_thread.hpp"

namespace eckart::test {
namespace {

class InFlightTest : public ::testing::Test {
 protected:
  static Batch batch(int number, bool suspect = false) {
    Batch batch{.kind = {padded_shape(kSmall, 32), {}}, .planes = 1};
    batch.items.push_back(make_item(number));
    batch.items.back()->suspect = suspect;
    return batch;
  }

  std::vector<int> lost_;
  int times_ = 0;
  InFlight in_flight_{[this](const InFlight::Items& items) {
    ++times_;
    for (const WorkItem* item : items) lost_.push_back(number_of(*item));
  }};
  const Batch first_ = batch(1), second_ = batch(2), suspect_ = batch(3, true);
};

TEST_F(InFlightTest, lets_batches_go_side_by_side) {
  const auto first = in_flight_.try_begin(first_);
  const auto second = in_flight_.try_begin(second_);
  EXPECT_TRUE(first && second);
}

TEST_F(InFlightTest, lets_a_suspect_begin_when_all_others_have_ended) {
  auto first = in_flight_.begin(first_);
  EXPECT_FALSE(in_flight_.try_begin(suspect_));
  first.reset();
  const auto suspect = in_flight_.try_begin(suspect_);
  EXPECT_TRUE(suspect);
  EXPECT_FALSE(in_flight_.try_begin(first_)) << "while it is computed";
}

TEST_F(InFlightTest, lets_nothing_overtake_a_suspect_that_waits) {
  auto first = in_flight_.begin(first_);
  WaitingThread waits([&] { EXPECT_TRUE(in_flight_.begin(suspect_)); });
  wait_until([&] { return !in_flight_.try_begin(second_); });
  first.reset();
  waits.join();
  EXPECT_TRUE(in_flight_.try_begin(second_));
}

TEST_F(InFlightTest, tells_once_what_was_in_flight_and_ends_all_waits) {
  const auto first = in_flight_.begin(first_);
  WaitingThread waits([&] { EXPECT_FALSE(in_flight_.begin(suspect_)); });
  in_flight_.device_lost();
  in_flight_.device_lost();
  waits.join();
  EXPECT_EQ(times_, 1);
  EXPECT_EQ(lost_, std::vector{1});
  EXPECT_FALSE(in_flight_.try_begin(second_));
}

}  // namespace
}  // namespace eckart::test
