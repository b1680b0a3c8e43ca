#include "bench/steady_pass.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

namespace eckart::bench {
namespace {

constexpr std::size_t kBatchItems = 10;
constexpr int kPassWorkers = 4;

/// Workers take a second for each batch, all at the same time. The first begin `late_s` after the
/// pass.
double steady_seconds(int batches, double late_s) {
  SteadyPass pass(std::size_t(batches) * kBatchItems, kBatchItems);
  const Instant begin = Clock::now();
  int taken = kPassWorkers;
  for (int done = 0; done < batches; taken = std::min(taken + kPassWorkers, batches)) {
    const int of_this_second = std::min(kPassWorkers, batches - done);
    done += of_this_second;
    const int seconds = (done + kPassWorkers - 1) / kPassWorkers;
    const std::chrono::duration<double> time(late_s + seconds);
    pass.observe(begin + std::chrono::duration_cast<Clock::duration>(time),
                 std::size_t(done) * kBatchItems, taken < batches);
  }
  return pass.seconds(1000);
}

TEST(SteadyPass, counts_neither_the_start_nor_the_end) {
  EXPECT_NEAR(steady_seconds(40, 0), 10, 1e-9);
  EXPECT_NEAR(steady_seconds(40, 7), 10, 1e-9) << "the workers begin late";
  EXPECT_NEAR(steady_seconds(41, 0), 10.25, 1e-9) << "one works alone at the end";
}

TEST(SteadyPass, is_the_whole_pass_if_too_few_items_are_between) {
  EXPECT_EQ(steady_seconds(1, 0), 1000);
  EXPECT_EQ(steady_seconds(kPassWorkers, 0), 1000);
  EXPECT_EQ(steady_seconds(2 * kPassWorkers, 0), 1000);
}

}  // namespace
}  // namespace eckart::bench
