// Tests eckart simulate from logs and options to output. tests/unit/simulation tests the numbers.
#include <nlohmann/json.hpp>

#include "tests/cli/cli_fixture.hpp"

namespace eckart::test {
namespace {

using Json = nlohmann::json;
using ::testing::StartsWith;

class SimulateCommandTest : public CliTest {
 protected:
  using Arguments = std::vector<std::string>;

  /// The log of a run that did 500 images/s on four busy cores.
  void write_log(const std::string& name, int rank = 20) {
    const Json common = {{"schema", "eckart.throughput/1"}, {"run", name}};
    Json head = common;
    head.update({{"kind", "run"},
                 {"time", "2026-11-30T10:00:00Z"},
                 {"command", "run"},
                 {"host", "here"},
                 {"cpu", "a CPU"},
                 {"cores", 4},
                 {"backend", "cpu"},
                 {"device", "a CPU"},
                 {"settings", {{"rank", rank}}},
                 {"startup_s", 1.5}});
    std::string text = head.dump() + "\n";
    for (int second = 1; second <= 60; ++second) {
      Json line = common;
      line.update({{"kind", "interval"},
                   {"elapsed_s", second},
                   {"interval_s", 1},
                   {"done", 500},
                   {"pixels", 500 * 65536},
                   {"input_bytes", 500 * 12000},
                   {"output_bytes", 500 * 6000},
                   {"unfinished", 100},
                   {"end_to_end_s", {{"mean", 0.2}, {"count", 500}}},
                   {"process", {{"cpu_s", 3.9}}},
                   {"stages", {{{"name", "write"}, {"workers", 2}, {"busy_s", 1}, {"cpu_s", 1}}}}});
      text += line.dump() + "\n";
    }
    write(name, text);
  }
  ProcessResult simulate(Arguments arguments) {
    arguments.insert(arguments.begin(), "simulate");
    return run(arguments);
  }
  std::vector<Json> simulate_json(Arguments arguments) {
    arguments.push_back("--json");
    const ProcessResult result = simulate(arguments);
    EXPECT_EQ(result.code, 0) << result.err;
    std::vector<Json> lines;
    std::istringstream out(result.out);
    for (std::string line; std::getline(out, line);) lines.push_back(Json::parse(line));
    return lines;
  }
  void expect_usage_error(const Arguments& arguments, const std::string& message) {
    const ProcessResult result = simulate(arguments);
    EXPECT_EQ(result.code, int(ExitCode::usage));
    EXPECT_THAT(result.err, HasSubstr(message));
    EXPECT_EQ(result.out, "");
  }
};

TEST_F(SimulateCommandTest, takes_the_node_from_a_log) {
  write_log("log");
  const std::vector<Json> lines = simulate_json({"log", "--nodes", "2", "--images", "1M"});
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].at("kind"), "simulate");
  EXPECT_NEAR(lines[0].at("node_images_per_s"), 500, 1);
  EXPECT_EQ(lines[0].at("startup_s"), 1.5);
  EXPECT_EQ(lines[0].at("input_bytes_per_image"), 12000);
  EXPECT_EQ(lines[0].at("output_bytes_per_image"), 6000);
  EXPECT_EQ(lines[0].at("shards"), 200);
}

TEST_F(SimulateCommandTest, prefers_options_to_the_log) {
  write_log("log");
  const Json line =
      simulate_json({"log", "--nodes", "2", "--images", "1M", "--node-rate", "30k/min", "--startup",
                     "0", "--input-kb", "7", "--output-kb", "3", "--shard-images", "1000"})[0];
  EXPECT_EQ(line.at("node_images_per_s"), 500);
  EXPECT_EQ(line.at("startup_s"), 0);
  EXPECT_EQ(line.at("input_bytes_per_image"), 7000);
  EXPECT_EQ(line.at("output_bytes_per_image"), 3000);
  EXPECT_EQ(line.at("shards"), 1000);
}

TEST_F(SimulateCommandTest, has_a_line_for_each_number_of_nodes_in_order) {
  const Arguments arguments{"--node-rate", "100/s", "--images", "1M", "--nodes", "8,1,8,2"};
  std::vector<int> nodes;
  for (const Json& line : simulate_json(arguments)) nodes.push_back(line.at("nodes"));
  EXPECT_EQ(nodes, (std::vector<int>{1, 2, 8}));
  const ProcessResult text = simulate(arguments);
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, StartsWith("1,000,000 images (0 kB read, 0 kB written) in 200 shards."));
  EXPECT_THAT(text.out, HasSubstr("From 1 node on, the limit is nodes"));
}

TEST_F(SimulateCommandTest, passes_every_limit_on) {
  const auto limit_with = [&](const Arguments& more) {
    Arguments arguments{"--node-rate", "100/s",      "--images", "10M",         "--nodes",
                        "200",         "--input-kb", "1000",     "--output-kb", "500"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return simulate_json(arguments)[0].at("limit").get<std::string>();
  };
  EXPECT_EQ(limit_with({}), "nodes");
  EXPECT_EQ(limit_with({"--storage-read", "2000"}), "storage read");
  EXPECT_EQ(limit_with({"--storage-write", "1000"}), "storage write");
  EXPECT_EQ(limit_with({"--storage-files", "4000"}), "storage files");
  EXPECT_EQ(limit_with({"--dispatch-rate", "0.4"}), "dispatch");
  EXPECT_EQ(limit_with({"--startup", "500"}), "start-up");
  EXPECT_EQ(limit_with({"--mtbf", "0.2"}), "failures");
  EXPECT_EQ(limit_with({"--merge-rate", "5000"}), "ledger merge");
  EXPECT_EQ(limit_with({"--slow-nodes", "0.01", "--slow-factor", "100"}), "last shards");
}

TEST_F(SimulateCommandTest, has_no_merge_if_its_rate_is_zero) {
  const Arguments arguments{"--node-rate", "100/s", "--images", "1M", "--nodes", "1"};
  EXPECT_EQ(simulate_json(arguments)[0].at("merge_s"), 40);
  Arguments without = arguments;
  without.insert(without.end(), {"--merge-rate", "0"});
  EXPECT_EQ(simulate_json(without)[0].at("merge_s"), 0);
}

TEST_F(SimulateCommandTest, depends_on_the_seed) {
  Arguments arguments{"--node-rate", "100/s", "--images", "1M", "--nodes", "8"};
  const Json first = simulate_json(arguments)[0];
  EXPECT_EQ(simulate_json(arguments)[0], first);
  arguments.insert(arguments.end(), {"--seed", "2"});
  EXPECT_NE(simulate_json(arguments)[0].at("makespan_s"), first.at("makespan_s"));
}

TEST_F(SimulateCommandTest, refuses_what_it_cannot_simulate) {
  const Arguments batch{"--nodes", "1", "--images", "1M"};
  expect_usage_error(batch, "no rate of a node: name a throughput log, or give --node-rate");
  const auto with = [&](Arguments arguments) {
    arguments.insert(arguments.end(), batch.begin(), batch.end());
    return arguments;
  };
  expect_usage_error(with({"--node-rate", "9/s", "--storage-read", "1"}), "give --input-kb");
  expect_usage_error(with({"--node-rate", "9/s", "--storage-write", "1"}), "give --output-kb");
  expect_usage_error(with({"--node-rate", "9"}), "'9' is not a rate");
  expect_usage_error(
      {"--node-rate", "9/s", "--nodes", "1", "--images", "1B", "--shard-images", "1"},
      "1,000,000,000 shards are too many");
  expect_usage_error({"--node-rate", "9/s", "--nodes", "1", "--images", "0.1"}, "1 to 1e15");
  write_log("a", 20);
  write_log("b", 50);
  expect_usage_error(with({"a", "b"}), "2 kinds of work");
  EXPECT_EQ(simulate(with({"missing"})).code, int(ExitCode::no_input));
  write("empty", "");
  EXPECT_EQ(simulate(with({"empty"})).code, int(ExitCode::nothing_readable));
}

}  // namespace
}  // namespace eckart::test
