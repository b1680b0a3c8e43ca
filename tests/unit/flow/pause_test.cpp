#include "flow/pause.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <stop_token>
#include <thread>

namespace eckart::flow {
namespace {

using std::chrono::milliseconds;

TEST(Pause, TakesItsTime) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(pause(milliseconds(20), std::stop_token{}));
  EXPECT_GE(std::chrono::steady_clock::now() - start, milliseconds(20));
}

TEST(Pause, IsOverAtOnceWhereAStopWasRequestedBefore) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(pause(std::chrono::hours(1), stop.get_token()));
}

TEST(Pause, IsEndedByAStop) {
  std::stop_source stop;
  std::jthread thread([&] { stop.request_stop(); });
  EXPECT_FALSE(pause(std::chrono::hours(1), stop.get_token()));
}

}  // namespace
}  // namespace eckart::flow
