#include "reports/throughput_lines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <vector>

namespace eckart::reports {
namespace {

using nlohmann::json;

RunIdentity make_identity() {
  RunIdentity identity = make_run_identity("run", "1.2.3");
  identity.settings = {{"rank", "\"50\""}};
  identity.configuration_hash = "abcd";
  return identity;
}

telemetry::Snapshot make_snapshot() {
  telemetry::Snapshot snapshot;
  snapshot.elapsed_s = snapshot.seconds = 4;
  snapshot.startup_s = 0.25;
  snapshot.backend = "cuda", snapshot.device = "NVIDIA H200";
  snapshot.found = 12, snapshot.unfinished = 1;
  snapshot.counts.done = 8, snapshot.counts.failed = 2, snapshot.counts.skipped = 1;
  snapshot.counts.failures[std::size_t(FailureReason::corrupt)] = 2;
  snapshot.counts.pixels = 4'000'000;
  telemetry::StageStats& stage = snapshot.stages.emplace_back();
  stage.stage = Stage::load, stage.workers = 2;
  stage.busy_s = 7.5, stage.waiting_for_input_s = 0.5, stage.cpu_s = 3;
  snapshot.batches = {3, 12, 16};
  snapshot.machine.cores = 2, snapshot.machine.idle_core_s = 7;
  machine::GpuUsage& gpu = snapshot.machine.gpus.emplace_back();
  gpu.uuid = "GPU-1", gpu.seconds = 4, gpu.busy_s = 1, gpu.energy_j = 1000;
  gpu.throttled_samples[std::size_t(machine::ThrottleReason::power)] = 1;
  return snapshot;
}

TEST(ThroughputLine, describes_the_run_in_a_run_line) {
  const json line = json::parse(run_line(
      make_identity(), {"580.1", {{"GPU-1", "NVIDIA H200", 1 << 30, 700}}}, make_snapshot()));
  EXPECT_EQ(line["schema"], "eckart.throughput/1");
  EXPECT_EQ(line["kind"], "run");
  EXPECT_EQ(line["version"], "1.2.3");
  EXPECT_EQ(line["device"], "NVIDIA H200");
  EXPECT_EQ(line["driver"], "580.1");
  EXPECT_EQ(line["gpus"][0]["power_limit_w"], 700);
  EXPECT_EQ(line["settings"]["rank"], "\"50\"");
  EXPECT_EQ(line["workers"]["load"], 2);
  EXPECT_EQ(line["startup_s"], 0.25);
  EXPECT_GE(line["cores"], 1);
  EXPECT_GT(line["memory_bytes"], 1 << 20);
  EXPECT_FALSE(line["host"].get<std::string>().empty());
  EXPECT_TRUE(std::regex_match(line["time"].get<std::string>(),
                               std::regex(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)")));
}

TEST(ThroughputLine, has_nulls_in_a_run_line_without_a_backend) {
  const json line = json::parse(run_line(make_identity(), {}, telemetry::Snapshot{}));
  EXPECT_TRUE(line["backend"].is_null());
  EXPECT_TRUE(line["driver"].is_null());
  EXPECT_TRUE(line["startup_s"].is_null());
}

TEST(ThroughputLine, has_counts_rates_and_ratios_in_a_total_line) {
  const RunIdentity run = make_identity();
  const json line = json::parse(total_line(run, make_snapshot()));
  EXPECT_EQ(line["kind"], "total");
  EXPECT_EQ(line["run"], run.run);
  EXPECT_EQ(line["found"], 12);
  EXPECT_EQ(line["done"].get<int>() + line["failed"].get<int>() + line["skipped"].get<int>() +
                line["unfinished"].get<int>(),
            12);
  EXPECT_EQ(line["failures"], (json{{"corrupt", 2}}));
  EXPECT_EQ(line["images_per_s"], 2);
  EXPECT_EQ(line["pixels_per_s"], 1'000'000);
  EXPECT_EQ(line["stages"][0]["busy_s"], 7.5);
  EXPECT_EQ(line["stages"][0]["service_s"]["count"], 0);
  EXPECT_TRUE(line["stages"][0]["service_s"]["p50"].is_null());
  EXPECT_EQ(line["batches"]["fill"], 0.75);
  EXPECT_EQ(line["gpus"][0]["busy"], 0.25);
  EXPECT_EQ(line["gpus"][0]["power_w"], 250);
  EXPECT_EQ(line["gpus"][0]["throttle"], json::array({"power"}));
  EXPECT_EQ(line["bottleneck"]["resource"], "disk");
}

TEST(ThroughputLine, has_the_rates_of_the_interval_in_an_interval_line) {
  telemetry::Snapshot later = make_snapshot();
  later.elapsed_s = 1000;
  const json line = json::parse(interval_line(make_identity(), later));
  EXPECT_EQ(line["elapsed_s"], 1000);
  EXPECT_EQ(line["interval_s"], 4);
  EXPECT_EQ(line["images_per_s"], 2);
  EXPECT_EQ(line["pixels_per_s"], 1'000'000);
}

TEST(ThroughputLine, is_valid_for_an_empty_snapshot) {
  const json line = json::parse(interval_line(make_identity(), telemetry::Snapshot{}));
  EXPECT_EQ(line["kind"], "interval");
  EXPECT_TRUE(line["bottleneck"].is_null());
  EXPECT_TRUE(line["batches"]["fill"].is_null());
}

TEST(ThroughputLine, has_a_unique_id_for_each_run) {
  EXPECT_NE(make_run_identity("run", "1").run, make_run_identity("run", "1").run);
}

}  // namespace
}  // namespace eckart::reports
