#include "broker/backoff.hpp"

#include <gtest/gtest.h>

#include <set>

namespace eckart::broker {
namespace {

using namespace std::chrono_literals;

TEST(Backoff, doubles_up_to_its_maximum) {
  Backoff backoff(100ms, 1000ms, 1);
  for (const auto limit : {100ms, 200ms, 400ms, 800ms, 1000ms, 1000ms}) {
    const auto wait = backoff.next();
    EXPECT_GE(wait, limit / 2);
    EXPECT_LE(wait, limit);
  }
  backoff.reset();
  EXPECT_LE(backoff.next(), 100ms);
}

TEST(Backoff, differs_between_clients) {
  std::set<Backoff::Duration> waits;
  for (std::uint64_t seed = 0; seed < 20; ++seed) waits.insert(Backoff(1h, 1h, seed).next());
  EXPECT_GT(waits.size(), 15u);
}

}  // namespace
}  // namespace eckart::broker
