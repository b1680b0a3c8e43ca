// Compares simulations with what follows from arithmetic, queueing theory and probability.
#include "simulation/simulate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace eckart::simulation {
namespace {

/// Nodes of 100 images/s, shards of 1,000 images that take 10 s, no limits.
Scenario scenario_of(int nodes, std::int64_t shards) {
  return {.nodes = nodes,
          .batch = {.images = 1000 * shards,
                    .shard_images = 1000,
                    .input_bytes = 2e6,
                    .output_bytes = 1e6},
          .node = {.images_per_s = 100}};
}

TEST(Simulation, takes_start_up_and_compute_time_on_one_node) {
  Scenario scenario = scenario_of(1, 1);
  scenario.node.startup_s = 3;
  const Result result = simulate(scenario);
  EXPECT_NEAR(result.makespan_s, 13, 1e-9);
  EXPECT_NEAR(result.images_per_s, 1000. / 13, 1e-9);
  EXPECT_NEAR(result.efficiency, 10. / 13, 1e-9);
  EXPECT_NEAR(result.shares[Limit::startup], 3. / 13, 1e-9);
  EXPECT_EQ(result.limit(), Limit::nodes);
}

TEST(Simulation, takes_as_many_rounds_as_equal_shards_need) {
  for (const int shards : {1, 7, 8, 9, 16, 23}) {
    Scenario scenario = scenario_of(8, shards);
    scenario.node.startup_s = 2;
    EXPECT_NEAR(simulate(scenario).makespan_s, 12 * std::ceil(shards / 8.), 1e-9) << shards;
  }
}

TEST(Simulation, has_a_last_shard_with_fewer_images) {
  Scenario scenario = scenario_of(1, 3);
  scenario.batch.images = 2500;
  const Result result = simulate(scenario);
  EXPECT_EQ(result.shards, 3);
  EXPECT_EQ(result.images_written, 2500);
  EXPECT_NEAR(result.makespan_s, 25, 1e-9);
}

TEST(Simulation, is_limited_by_the_storage_if_nodes_can_do_more) {
  struct Case {
    Storage storage;
    Limit limit;
  };
  // Each serves 800 images/s, as eight nodes do.
  const Case cases[] = {{{.read_bytes_per_s = 1600e6}, Limit::storage_read},
                        {{.write_bytes_per_s = 800e6}, Limit::storage_write},
                        {{.files_per_s = 1600}, Limit::storage_files}};
  for (const Case& at : cases) {
    for (const int nodes : {1, 2, 4, 16, 64}) {
      Scenario scenario = scenario_of(nodes, 40L * nodes);
      scenario.storage = at.storage;
      const Result result = simulate(scenario);
      EXPECT_NEAR(result.images_per_s, std::min(100. * nodes, 800.), 0.04 * result.images_per_s)
          << to_string(at.limit) << nodes;
      EXPECT_EQ(result.limit(), nodes < 8 ? Limit::nodes : at.limit) << nodes;
      if (nodes > 8) {
        EXPECT_GT(result.shares[at.limit], 0.97);
        EXPECT_LE(result.images_per_s, 800 * (1 + 1e-9));
      }
    }
  }
}

TEST(Simulation, overlaps_reading_computing_and_writing) {
  Scenario scenario = scenario_of(1, 20);
  // Each step alone does 100 images/s.
  scenario.storage = {.read_bytes_per_s = 200e6, .write_bytes_per_s = 100e6, .files_per_s = 200};
  EXPECT_GT(simulate(scenario).efficiency, 0.9);
}

TEST(Simulation, is_limited_by_a_slow_scheduler) {
  Scenario scenario = scenario_of(50, 1000);
  scenario.dispatched_shards_per_s = 2;  // 50 nodes ask for 5 a second
  const Result result = simulate(scenario);
  EXPECT_NEAR(result.images_per_s, 2000, 0.02 * 2000);
  EXPECT_EQ(result.limit(), Limit::dispatch);
}

TEST(Simulation, is_limited_by_start_up_if_shards_are_short) {
  Scenario scenario = scenario_of(4, 400);
  scenario.node.startup_s = 30;
  const Result result = simulate(scenario);
  EXPECT_NEAR(result.makespan_s, 100 * 40, 1e-6);
  EXPECT_EQ(result.limit(), Limit::startup);
}

TEST(Simulation, has_idle_nodes_if_slow_nodes_have_the_last_shards) {
  Scenario scenario = scenario_of(4, 4);
  scenario.node.slow_share = 0.25;
  scenario.node.slow_factor = 5;
  const Result result = simulate(scenario);
  EXPECT_NEAR(result.makespan_s, 50, 1e-9);
  EXPECT_NEAR(result.shares[Limit::last_shards], 3 * 40. / (4 * 50), 1e-9);
  EXPECT_NEAR(result.shares[Limit::nodes], 80. / 200, 1e-9);
  EXPECT_EQ(result.limit(), Limit::last_shards);
}

TEST(Simulation, has_the_share_of_slow_nodes_that_was_asked_for) {
  for (const int slow : {0, 1, 3, 10}) {
    Scenario scenario = scenario_of(10, 10);
    scenario.node.slow_share = slow / 10.;
    scenario.node.slow_factor = 2;
    const Result result = simulate(scenario);
    EXPECT_NEAR(result.shares[Limit::nodes] * result.makespan_s * 10, 100 + 10 * slow, 1e-6);
  }
}

TEST(Simulation, takes_the_mean_time_if_shards_vary) {
  Scenario scenario = scenario_of(1, 4000);
  scenario.node.variation = 0.3;
  const double error = 3 * 0.3 / std::sqrt(4000.);
  EXPECT_NEAR(simulate(scenario).makespan_s / 40'000, 1, error);
}

TEST(Simulation, ends_with_the_merge_of_the_ledgers) {
  Scenario scenario = scenario_of(10, 10);
  scenario.merged_images_per_s = 250;
  const Result result = simulate(scenario);
  EXPECT_NEAR(result.merge_s, 40, 1e-9);
  EXPECT_NEAR(result.makespan_s, 50, 1e-9);
  EXPECT_EQ(result.limit(), Limit::merge);
  EXPECT_NEAR(result.shares[Limit::nodes], 0.2, 1e-9);
}

TEST(Simulation, writes_each_image_once_without_failures) {
  Scenario scenario = scenario_of(30, 500);
  scenario.node.variation = 0.2;
  scenario.storage = {.read_bytes_per_s = 4e9, .write_bytes_per_s = 2e9, .files_per_s = 5000};
  const Result result = simulate(scenario);
  EXPECT_EQ(result.images_written, 500'000);
  EXPECT_EQ(result.images_repeated, 0);
  EXPECT_EQ(result.failures, 0);
}

class FailureTest : public ::testing::Test {
 protected:
  /// Shards of about 1,003 s, and a failure of a node every 10,000 s. Because shards vary, the ends
  /// of their chunks are not in step with the publications of their ledgers.
  static Scenario scenario() {
    Scenario scenario = scenario_of(200, 1);
    scenario.batch = {.images = 4000L * 100'300, .shard_images = 100'300};
    scenario.node.variation = 0.05;
    scenario.node.mtbf_s = 10'000;
    return scenario;
  }
};

TEST_F(FailureTest, repeats_the_images_since_the_last_publication) {
  const Scenario scenario = this->scenario();
  const Result result = simulate(scenario);
  const double up_s = result.makespan_s * 200 * (1 - result.shares[Limit::failures]);
  const double expected_failures = up_s / 10'000;
  EXPECT_NEAR(double(result.failures), expected_failures, 3 * std::sqrt(expected_failures));
  const double idle_share = result.shares[Limit::last_shards] * result.makespan_s * 200 / up_s;
  const double busy_failures = double(result.failures) * (1 - idle_share);
  // Of the last period of a shard, 43 s remain.
  const double mean_s = (16 * 60 * 30 + 43 * 21.5) / 1003;
  const double expected = busy_failures * mean_s * 100;
  const double standard_error = 100 * (60 / std::sqrt(12)) * std::sqrt(busy_failures);
  EXPECT_GT(busy_failures, 300);
  EXPECT_NEAR(double(result.images_repeated), expected, 3 * standard_error);
}

TEST_F(FailureTest, writes_every_image_and_the_repeated_ones_again) {
  const Result result = simulate(scenario());
  EXPECT_GT(result.images_repeated, 0);
  EXPECT_EQ(result.images_written, scenario().batch.images + result.images_repeated);
}

TEST_F(FailureTest, is_down_as_long_as_repairs_take) {
  Scenario scenario = this->scenario();
  scenario.batch.images *= 5;
  scenario.node.repair_s = 5000;  // a third of the time
  const Result result = simulate(scenario);
  const double processing_s = result.makespan_s * (1 - result.shares[Limit::last_shards]);
  EXPECT_NEAR(result.shares[Limit::failures] * result.makespan_s / processing_s, 1. / 3, 0.02);
}

/// Without limits of storage and scheduler, no node waits for them.
TEST_F(FailureTest, leaves_no_time_of_nodes_without_a_cause) {
  Scenario scenario = this->scenario();
  scenario.node.startup_s = 100;
  const TimeShares shares = simulate(scenario).shares;
  EXPECT_GT(shares[Limit::failures], 0.1);
  EXPECT_NEAR(shares[Limit::nodes] + shares[Limit::startup] + shares[Limit::last_shards] +
                  shares[Limit::failures],
              1, 1e-9);
}

TEST_F(FailureTest, is_waited_for_until_it_is_detected) {
  Scenario scenario = scenario_of(2, 1);
  scenario.node.mtbf_s = 1000;
  scenario.node.detect_s = 100;
  scenario.node.repair_s = 1e9;
  // The first seed with which the node of the shard fails within 10 s, and the other does not.
  Result result;
  while (result.failures != 1 || result.makespan_s < 11) {
    ++scenario.seed;
    result = simulate(scenario);
  }
  EXPECT_GT(result.makespan_s, 110);
  EXPECT_LT(result.makespan_s, 120);
}

TEST_F(FailureTest, leaves_a_shard_waiting_for_a_repair_if_all_nodes_are_down) {
  Scenario scenario = scenario_of(2, 1);
  scenario.node.mtbf_s = 50;
  scenario.node.detect_s = 100;
  scenario.node.repair_s = 1000;
  Result result;
  while (result.failures != 2 || result.makespan_s < 11) {
    ++scenario.seed;
    result = simulate(scenario);
  }
  EXPECT_GT(result.makespan_s, 1000);
}

TEST_F(FailureTest, is_refused_if_no_shard_is_ever_finished) {
  Scenario scenario = scenario_of(2, 2);
  scenario.node.startup_s = 1000;
  scenario.node.mtbf_s = 1;
  EXPECT_THROW(simulate(scenario), std::invalid_argument);
}

TEST(Simulation, depends_only_on_the_seed) {
  Scenario scenario = scenario_of(20, 300);
  scenario.node.variation = 0.1;
  scenario.node.mtbf_s = 500;
  const Result first = simulate(scenario), second = simulate(scenario);
  EXPECT_EQ(first.makespan_s, second.makespan_s);
  EXPECT_EQ(first.images_repeated, second.images_repeated);
  EXPECT_EQ(first.failures, second.failures);
  scenario.seed = 2;
  EXPECT_NE(simulate(scenario).makespan_s, first.makespan_s);
}

TEST(Simulation, has_chunks_of_a_few_seconds) {
  Scenario scenario = scenario_of(1, 1);
  EXPECT_EQ(chunk_images(scenario), 20);
  scenario.node.images_per_s = 1;
  EXPECT_EQ(chunk_images(scenario), 6);
  scenario.batch.images = 40'000'000'000;
  scenario.batch.shard_images = 5000;
  EXPECT_EQ(chunk_images(scenario), 5000);
}

TEST(Simulation, needs_few_files_with_archives) {
  Scenario scenario = scenario_of(4, 100);
  scenario.storage = {.files_per_s = 0.1 * scenario.node.images_per_s};
  const double without = simulate(scenario).images_per_s;
  scenario.batch.has_archives = true;
  const Result with = simulate(scenario);
  EXPECT_NEAR(without, 0.05 * scenario.node.images_per_s, 0.01 * without);
  EXPECT_GT(with.images_per_s, 10 * without);
  scenario.storage.files_per_s = 1e-3 * scenario.node.images_per_s;
  const double limit = scenario.storage.files_per_s / kFilesPerArchivedShard;  // shards/s
  EXPECT_NEAR(simulate(scenario).images_per_s, limit * double(scenario.batch.shard_images),
              0.02 * limit * double(scenario.batch.shard_images));
}

TEST(Simulation, refuses_too_many_shards) {
  EXPECT_THROW(simulate(scenario_of(1, kMaxShards + 1)), std::invalid_argument);
}

TEST(Simulation, finishes_with_many_nodes_and_images) {
  Scenario scenario = scenario_of(1000, 1);
  scenario.batch = {
      .images = 100'000'000, .shard_images = 5000, .input_bytes = 690e3, .output_bytes = 608e3};
  scenario.node = {.images_per_s = 6900, .variation = 0.05, .startup_s = 2, .mtbf_s = 3600 * 1000};
  scenario.storage = {.read_bytes_per_s = 50e9, .write_bytes_per_s = 50e9, .files_per_s = 50e3};
  EXPECT_EQ(simulate(scenario).limit(), Limit::storage_files);
}

}  // namespace
}  // namespace eckart::simulation
