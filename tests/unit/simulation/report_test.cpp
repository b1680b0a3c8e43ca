#include "simulation/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace eckart::simulation {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const Scenario kScenario = {.batch = {.images = 2'000'000,
                                      .shard_images = 5000,
                                      .input_bytes = 500e3,
                                      .output_bytes = 250e3},
                            .node = {.images_per_s = 100, .startup_s = 2}};

std::vector<Simulated> simulate_all(Scenario scenario, const std::vector<int>& nodes) {
  std::vector<Simulated> by_nodes;
  for (const int count : nodes) {
    scenario.nodes = count;
    by_nodes.push_back({scenario, simulate(scenario)});
  }
  return by_nodes;
}

/// The last sentence for this scenario on one and on 20 nodes.
std::string last_sentence(const Scenario& scenario) {
  return limit_sentences(simulate_all(scenario, {1, 20})).back();
}

TEST(LimitSentence, says_that_more_nodes_help_if_nothing_else_limits) {
  EXPECT_THAT(limit_sentences(simulate_all(kScenario, {1, 20})),
              ElementsAre("From 1 node on, the limit is nodes: more or faster nodes help."));
  EXPECT_THAT(limit_sentences(simulate_all(kScenario, {4})),
              ElementsAre("With 4 nodes, the limit is nodes: more or faster nodes help."));
}

TEST(LimitSentence, has_a_sentence_for_each_limit) {
  Scenario scenario = kScenario;
  scenario.storage.read_bytes_per_s = 500e6;
  EXPECT_THAT(
      limit_sentences(simulate_all(scenario, {1, 2, 5, 20, 50})),
      ElementsAre("With 1 to 5 nodes, the limit is nodes: more or faster nodes help.",
                  "From 20 nodes on, the limit is storage read: the storage reads 500 MB/s: 1,000 "
                  "images/s, as many as 10 nodes do. Faster storage helps, more nodes do not."));
}

TEST(LimitSentence, names_what_the_storage_does) {
  Scenario scenario = kScenario;
  scenario.storage.write_bytes_per_s = 100e6;
  EXPECT_THAT(last_sentence(scenario), HasSubstr("the storage writes 100 MB/s: 400 images/s, as "
                                                 "many as 4.0 nodes do."));
  scenario.storage = {.files_per_s = 100};
  EXPECT_THAT(last_sentence(scenario),
              HasSubstr("the storage opens and creates 100 files/s, two for an image: 50.0 "
                        "images/s, fewer than a node does."));
}

TEST(LimitSentence, recommends_larger_shards) {
  Scenario scenario = kScenario;
  scenario.dispatched_shards_per_s = 0.1;
  EXPECT_THAT(last_sentence(scenario),
              AllOf(HasSubstr("the limit is dispatch: the scheduler starts 0.100 shards/s: 500 "
                              "images/s, as many as 5.0 nodes do. Larger shards"),
                    HasSubstr("more nodes do not")));
  scenario = kScenario;
  scenario.batch.shard_images = 50;
  EXPECT_THAT(last_sentence(scenario),
              HasSubstr("the limit is start-up: the start for a shard takes 2.00 s, and its 50 "
                        "images 500 ms. Larger shards (--shard-images) help."));
}

TEST(LimitSentence, recommends_smaller_shards) {
  Scenario scenario = kScenario;
  scenario.batch.shard_images = 500'000;
  EXPECT_THAT(last_sentence(scenario),
              HasSubstr("the limit is last shards: there are only 4 shards. Smaller shards"));
  scenario.batch.shard_images = 100'000;
  scenario.node.slow_share = 0.05;
  scenario.node.slow_factor = 10;
  EXPECT_THAT(last_sentence(scenario), HasSubstr("nodes without a shard wait 85 % of the time"));
}

TEST(LimitSentence, explains_failures_and_the_merge) {
  Scenario scenario = kScenario;
  scenario.node.mtbf_s = 600;
  EXPECT_THAT(last_sentence(scenario),
              AllOf(HasSubstr("the limit is failures: nodes are down 8"), HasSubstr("repairs")));
  scenario = kScenario;
  scenario.merged_images_per_s = 1000;
  EXPECT_THAT(last_sentence(scenario),
              HasSubstr("the limit is ledger merge: one node merges the ledgers of all shards in "
                        "33 min 20 s. Only prune, export and later runs need that. Before it, the "
                        "limit is nodes: more or faster nodes help."));
}

TEST(SimulationReport, has_a_row_for_each_number_of_nodes) {
  const std::string text = to_text(simulate_all(kScenario, {1, 20}));
  EXPECT_THAT(text, StartsWith("2,000,000 images (500 kB read, 250 kB written) in 400 shards. A "
                               "node alone does\n100 images/s, after a start of 2.00 s for each "
                               "shard.\n"));
  EXPECT_THAT(text, HasSubstr("\nSimulated\n  nodes         time  images/s  efficiency  limit\n"
                              "      1   5 h 46 min      96.2        96 %  nodes\n"
                              "     20  17 min 20 s     1,923        96 %  nodes\n"
                              "\nWhat limits\n  - From 1 node on"));
}

TEST(SimulationReport, tells_how_long_the_merge_takes) {
  Scenario scenario = kScenario;
  scenario.merged_images_per_s = 20'000;
  EXPECT_THAT(to_text(simulate_all(scenario, {1})),
              HasSubstr("The time includes 1 min 40\ns to merge the ledgers on one node.\n"));
}

TEST(SimulationReport, has_all_numbers_as_json) {
  Scenario scenario = kScenario;
  scenario.nodes = 4;
  scenario.node.mtbf_s = 36'000;
  scenario.merged_images_per_s = 10'000;
  const Result result = simulate(scenario);
  const nlohmann::json json = nlohmann::json::parse(to_json({scenario, result}));
  EXPECT_EQ(json.at("kind"), "simulate");
  EXPECT_EQ(json.at("nodes"), 4);
  EXPECT_EQ(json.at("shards"), 400);
  EXPECT_EQ(json.at("limit"), "nodes");
  EXPECT_EQ(json.at("merge_s"), 200);
  EXPECT_EQ(json.at("failures"), result.failures);
  EXPECT_EQ(json.at("images_repeated"), result.images_repeated);
  EXPECT_EQ(json.at("shares").at("nodes"), result.shares[Limit::nodes]);
  EXPECT_EQ(json.at("shares").at("merge"), result.shares[Limit::merge]);
  EXPECT_EQ(json.at("shares").size(), enum_values<Limit>().size());
}

}  // namespace
}  // namespace eckart::simulation
