#include "simulation/fifo_server.hpp"

#include <gtest/gtest.h>

#include "simulation/random.hpp"

namespace eckart::simulation {
namespace {

TEST(FifoServer, serves_requests_one_after_the_other) {
  FifoServer server(2);
  EXPECT_EQ(server.serve(1, 4), 3);
  EXPECT_EQ(server.serve(1, 2), 4);
  EXPECT_EQ(server.serve(10, 2), 11);
  EXPECT_EQ(server.busy_s(), 4);
}

TEST(FifoServer, takes_no_time_without_a_limit) {
  FifoServer server;
  EXPECT_EQ(server.serve(5, 1e9), 5);
  EXPECT_EQ(server.busy_s(), 0);
}

TEST(FifoServer, cancels_what_is_not_done) {
  FifoServer server(1);
  server.serve(0, 10);
  server.cancel(4);
  EXPECT_EQ(server.busy_s(), 4);
  EXPECT_EQ(server.serve(4, 1), 5);
}

/// Pollaczek and Khinchine: the mean wait of M/D/1 is rho / (2 mu (1 - rho)).
TEST(FifoServer, waits_as_long_as_queueing_theory_says) {
  constexpr int kRequests = 400'000;
  for (const double load : {0.3, 0.6, 0.8}) {
    FifoServer server(1);
    Random random(7);
    double now = 0, waited = 0;
    for (int i = 0; i < kRequests; ++i) {
      now += random.exponential(1 / load);
      waited += server.serve(now, 1) - now - 1;
    }
    const double expected = load / (2 * (1 - load));
    EXPECT_NEAR(waited / kRequests, expected, 0.03 * expected) << load;
    EXPECT_NEAR(server.busy_s() / now, load, 0.01);
  }
}

}  // namespace
}  // namespace eckart::simulation
