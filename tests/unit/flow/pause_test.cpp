#include "flow/pause.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <stop_token>
#include <thread>

namespace eckart::flow {
namespace {

using std::chrono::milliseconds;

TEST(Pause, lasts_the_given_time) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(pause(milliseconds(20), std::stop_token{}));
  EXPECT_GE(std::chrono::steady_clock::now() - start, milliseconds(20));
}

TEST(Pause, ends_at_once_after_a_stop_request) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(pause(std::chrono::hours(1), stop.get_token()));
}

TEST(Pause, is_ended_by_a_stop) {
  std::stop_source stop;
  std::jthread thread([&] { stop.request_stop(); });
  EXPECT_FALSE(pause(std::chrono::hours(1), stop.get_token()));
}

}  // namespace
}  // namespace eckart::flow
