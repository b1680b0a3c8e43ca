#include "reports/throughput_lines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <vector>

#include "tests/support/filled_snapshot.hpp"

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

json expected_durations(const telemetry::DurationHistogram& durations) {
  const auto rounded = [](double s) { return std::round(1e6 * s) / 1e6; };
  return {{"mean", 0.0016},
          {"p50", rounded(durations.quantile_s(0.5))},
          {"p90", rounded(durations.quantile_s(0.9))},
          {"p99", rounded(durations.quantile_s(0.99))},
          {"count", durations.count()}};
}

TEST(ThroughputLine, has_every_value_in_its_place) {
  const telemetry::Snapshot snapshot = test::filled_snapshot(1);
  json line = json::parse(interval_line(make_identity(), snapshot));
  json expected = json::parse(R"({"kind": "interval", "schema": "eckart.throughput/1",
    "elapsed_s": 10, "interval_s": 10, "found": 101, "done": 11, "failed": 13, "skipped": 12,
    "unfinished": 102, "failures": {"corrupt": 14, "not written": 15}, "not_read": {".tif": 29},
    "pixels": 20000, "planes": 21, "outputs": 22, "input_bytes": 23000, "output_bytes": 24000,
    "images_per_s": 1.1, "pixels_per_s": 2000, "input_bytes_per_s": 2300,
      "output_bytes_per_s": 2400,
    "stages": [
      {"name": "load", "workers": 2, "busy_s": 12, "waiting_for_input_s": 6, "blocked_s": 1.5,
      "cpu_s": 4, "images": 25},
      {"name": "write", "workers": 1, "busy_s": 2, "waiting_for_input_s": 7, "blocked_s": 1.1,
      "cpu_s": 0.5, "images": 26}],
    "queues": [{"name": "found", "images": 27, "capacity": 256}, {"name": "loaded", "images": 28,
      "capacity": 128}],
    "budget": {"bytes": 671088640, "used_bytes": 335544320},
    "batches": {"count": 30, "planes": 31, "fill": 0.5},
    "process": {"cpu_s": 5, "rss_bytes": 36700160, "peak_rss_bytes": 37748736, "threads": 37},
    "gpus": [{"uuid": "GPU-1", "busy": 0.4, "memory_busy": 0.25, "memory_used_bytes": 41943040,
      "power_w": 300,
              "energy_j": 3000, "sm_mhz": 1001, "memory_mhz": 1002, "temperature_c": 55,
      "throttle": ["thermal"]}],
    "oom_splits": 33, "cpu_fallback_images": 34,
    "bottleneck": {"resource": "load",
      "text": "load is the bottleneck: 62 % busy. More threads may help: --set threads.load=auto"}
  })");
  expected["end_to_end_s"] = expected_durations(snapshot.end_to_end);
  for (std::size_t i = 0; i < 2; ++i) {
    expected["stages"][i]["service_s"] = expected_durations(snapshot.stages[i].service);
    expected["queues"][i]["wait_s"] = expected_durations(snapshot.queues[i].wait);
  }
  line.erase("time");
  line.erase("run");
  EXPECT_NEAR(line.at("bottleneck").at("busy").get<double>(), 12 / 19.5, 1e-9);
  line.at("bottleneck").erase("busy");
  EXPECT_EQ(line, expected) << json::diff(line, expected);
}

TEST(ThroughputLine, has_the_machine_in_a_run_line) {
  RunIdentity identity = make_identity();
  identity.machine = {"host1", "cpu1", 6, 7000};
  json line = json::parse(
      run_line(identity, {"580.1", {{"GPU-1", "H200", 8000, 700}}}, test::filled_snapshot(1)));
  const json expected =
      json::parse(R"({"kind": "run", "schema": "eckart.throughput/1", "command": "run",
    "version": "1.2.3", "host": "host1", "cpu": "cpu1", "cores": 6, "memory_bytes": 7000,
      "backend": "cuda",
    "device": "NVIDIA H200", "driver": "580.1",
    "gpus": [{"uuid": "GPU-1", "name": "H200", "memory_bytes": 8000, "power_limit_w": 700}],
    "workers": {"load": 2, "write": 1}, "settings": {"rank": "\"50\""},
      "configuration_hash": "abcd", "startup_s": 0.5})");
  EXPECT_EQ(line.at("run"), identity.run);
  line.erase("time");
  line.erase("run");
  EXPECT_EQ(line, expected) << json::diff(line, expected);
}

TEST(ThroughputLine, has_no_bottleneck_if_no_image_has_finished) {
  telemetry::Snapshot snapshot = test::filled_snapshot(1);
  snapshot.counts = {};
  EXPECT_TRUE(json::parse(interval_line(make_identity(), snapshot)).at("bottleneck").is_null());
}

}  // namespace
}  // namespace eckart::reports
