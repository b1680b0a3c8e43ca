// Tests the throughput log of runs and services, whose sums must be consistent.
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/cli/watch_fixture.hpp"

namespace eckart::test {
namespace {

using Json = nlohmann::json;

class ThroughputLogTest : public WatchTest {
 protected:
  std::vector<Json> lines(const std::string& kind = {}) const {
    std::vector<Json> found;
    std::ifstream stream(at("log.jsonl"));
    for (std::string line; std::getline(stream, line) && !stream.eof();) {
      Json parsed = Json::parse(line);
      if (kind.empty() || parsed["kind"] == kind) found.push_back(std::move(parsed));
    }
    return found;
  }
  std::vector<std::string> run_arguments() const {
    return {"run",       "in",    "-o",
            "out",       "--set", "telemetry.throughput_log=" + at("log.jsonl").string(),
            "--backend", "cpu",   "-q"};
  }

  /// Expects that busy time plus waits equals the wall time of each worker.
  static void expect_times_add_up(const Json& line) {
    for (const Json& stage : line["stages"]) {
      const double all = double(stage["workers"]) * double(line["interval_s"]);
      EXPECT_NEAR(double(stage["busy_s"]) + double(stage["waiting_for_input_s"]) +
                      double(stage["blocked_s"]),
                  all, 2e-3 * double(stage["workers"]))
          << stage;
    }
  }
  static void expect_images_add_up(const Json& total) {
    EXPECT_EQ(total["found"].get<int>(), total["done"].get<int>() + total["failed"].get<int>() +
                                             total["skipped"].get<int>() +
                                             total["unfinished"].get<int>());
  }
};

TEST_F(ThroughputLogTest, adds_up_for_a_service) {
  configure({}, "telemetry: {throughput_log: " + at("log.jsonl").string() + ", interval_s: 0.1}\n");
  start();
  for (int i = 0; i < 8; ++i) write_png("in/" + std::to_string(i) + ".png");
  write("in/bad.png", std::string("no image"));
  wait_for_outputs(8);
  const std::size_t so_far = lines("interval").size();
  wait_until([&] { return lines("interval").size() >= so_far + 3; });
  for (int i = 0; i < 8; ++i) write_png("in/more/" + std::to_string(i) + ".png");
  wait_for_outputs(16);
  ASSERT_EQ(stop().code, 0);

  const auto all = lines();
  ASSERT_GE(all.size(), 6u);
  EXPECT_EQ(all.front()["kind"], "run");
  EXPECT_EQ(all.front()["command"], "watch");
  EXPECT_EQ(all.front()["workers"]["source"], 1);
  EXPECT_EQ(all.back()["kind"], "total");
  std::map<std::string, double> sums;
  for (const Json& line : lines("interval")) {
    EXPECT_EQ(line["run"], all.front()["run"]);
    expect_times_add_up(line);
    for (const char* key : {"interval_s", "found", "done", "failed", "input_bytes", "output_bytes"})
      sums[key] += double(line[key]);
    for (const Json& stage : line["stages"]) sums[stage["name"]] += double(stage["busy_s"]);
    sums["cpu_s"] += double(line["process"]["cpu_s"]);
  }
  const Json& total = all.back();
  expect_times_add_up(total);
  expect_images_add_up(total);
  EXPECT_EQ(total["done"], 16);
  for (const char* key : {"interval_s", "found", "done", "failed", "input_bytes", "output_bytes"})
    EXPECT_NEAR(double(total[key]), sums[key], 1e-3) << key;
  for (const Json& stage : total["stages"])
    EXPECT_NEAR(double(stage["busy_s"]), sums[stage["name"]], 1e-3) << stage["name"];
  EXPECT_NEAR(double(total["process"]["cpu_s"]), sums["cpu_s"], 1e-3);
  EXPECT_EQ(total["end_to_end_s"]["count"], 16);
}

TEST_F(ThroughputLogTest, counts_each_input_of_a_run_once) {
  for (int i = 0; i < 5; ++i) write_png("in/" + std::to_string(i) + ".png");
  write("in/bad.png", std::string("no image"));
  EXPECT_EQ(run(run_arguments()).code, 3);
  Json total = lines("total").back();
  expect_times_add_up(total);
  expect_images_add_up(total);
  EXPECT_EQ(total["done"], 5);
  EXPECT_EQ(total["failures"], (Json{{"not an image", 1}}));
  EXPECT_EQ(total["unfinished"], 0);
  EXPECT_EQ(total["planes"], 5);
  EXPECT_GT(total["process"]["cpu_s"], 0);
  EXPECT_EQ(total["stages"][1]["service_s"]["count"], 6);
  EXPECT_EQ(total["stages"][4]["service_s"]["count"], 5);

  EXPECT_EQ(run(run_arguments()).code, 3);  // appends to the log
  total = lines("total").back();
  EXPECT_EQ(total["skipped"], 5);
  EXPECT_EQ(total["failed"], 1);
  expect_images_add_up(total);
  EXPECT_EQ(lines("run").size(), 2u);
  EXPECT_NE(lines("run")[0]["run"], lines("run")[1]["run"]);
  EXPECT_EQ(lines("run")[0]["configuration_hash"], lines("run")[1]["configuration_hash"]);
}

TEST_F(ThroughputLogTest, reports_a_write_failure_once) {
  for (int i = 0; i < 5; ++i) write_png("in/" + std::to_string(i) + ".png");
  write("log.jsonl", std::string("a file where a folder is wanted"));
  auto arguments = run_arguments();
  arguments[5] += "/log.jsonl";
  const ProcessResult result = run(arguments);
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(count_occurrences(result.err, "throughput log"), 1) << result.err;
  EXPECT_THAT(result.err, HasSubstr("log.jsonl/log.jsonl"));
}

TEST_F(ThroughputLogTest, reports_a_second_writer) {
  configure({}, "telemetry: {throughput_log: " + at("log.jsonl").string() + ", interval_s: 0.1}\n");
  start();
  wait_until([&] { return !lines("interval").empty(); });
  write_png("other/a.png");
  const ProcessResult second = run({"run", "other", "-o", "out2", "--backend", "cpu", "--set",
                                    "telemetry.throughput_log=" + at("log.jsonl").string()});
  EXPECT_EQ(second.code, 0);
  EXPECT_THAT(line_containing(second.err, "log.jsonl"), HasSubstr("another process also writes"));
  EXPECT_EQ(count_occurrences(stop().err, "another process"), 0);
}

}  // namespace
}  // namespace eckart::test
