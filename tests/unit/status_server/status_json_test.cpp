#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "status_server/run_status.hpp"
#include "tests/support/filled_snapshot.hpp"
#include "text/json.hpp"

namespace eckart::status_server {
namespace {

using testing::ElementsAre;

TEST(StatusJson, has_no_value_for_times_before_a_gpu_was_found) {
  telemetry::Snapshot difference;
  difference.seconds = 1;
  History history;
  history.add(1, difference);
  history.add(2, difference);
  difference.machine.gpus = {{.uuid = "GPU-1", .seconds = 1, .busy_s = 0.5, .energy_j = 200}};
  history.add(3, difference);
  const auto json = text::Json::parse(status_json({}, history, 0)).at("history");
  EXPECT_THAT(json.at("time_s"), ElementsAre(1, 2, 3));
  const text::Json none;
  EXPECT_THAT(json.at("gpus").at(0).at("busy"), ElementsAre(none, none, 0.5));
  EXPECT_THAT(json.at("gpus").at(0).at("power_w"), ElementsAre(none, none, 200));
}

TEST(StatusJson, has_the_values_of_each_watch) {
  RunStatus status;
  WatchStatus watch;
  watch.name = "scans", watch.input = "/in", watch.output = "/out";
  watch.condition = WatchCondition::paused, watch.reason = "the disk is full";
  watch.done = 1, watch.failed = 2, watch.skipped = 3, watch.waiting = 4, watch.unfinished = 5;
  watch.quarantine_files = 6, watch.quarantine_bytes = 7, watch.not_read = {{".tif", 8}};
  watch.free_bytes = 9;
  status.state.watches = {watch, {}};
  status.state.not_ready_reasons = {"no GPU"};
  const auto json = text::Json::parse(status_json(status, {}, 0));
  EXPECT_EQ(json.at("watches").at(0),
            text::Json::parse(R"({"name": "scans", "input": "/in", "output": "/out",
      "state": "paused", "reason": "the disk is full", "done": 1, "failed": 2, "skipped": 3,
      "waiting": 4,
      "unfinished": 5, "quarantine_files": 6, "quarantine_bytes": 7, "not_read": {".tif": 8},
      "free_bytes": 9})"));
  EXPECT_TRUE(json.at("watches").at(1).at("free_bytes").is_null()) << "unknown";
  EXPECT_EQ(json.at("ready"), false);
  EXPECT_THAT(json.at("not_ready"), ElementsAre("no GPU"));
  EXPECT_EQ(text::Json::parse(status_json({}, {}, 0)).at("ready"), true);
}

TEST(StatusJson, has_the_whole_run_and_the_last_interval) {
  RunStatus status;
  status.identity.run = "run1", status.identity.command = "watch";
  status.gpus.driver = "580.1";
  status.all = test::filled_snapshot(10);
  status.recent = status.all.since(test::filled_snapshot(8));
  const auto json = text::Json::parse(status_json(status, {}, 0));
  EXPECT_EQ(json.at("run").at("driver"), "580.1");
  EXPECT_EQ(json.at("run").at("workers").at("load"), 2);
  EXPECT_EQ(json.at("total").at("kind"), "total");
  EXPECT_EQ(json.at("total").at("done"), 110);
  EXPECT_EQ(json.at("last").at("kind"), "interval");
  EXPECT_EQ(json.at("last").at("done"), 22);
  EXPECT_EQ(json.at("recent_failures"), text::Json::parse(R"([{"time": "1970-01-01T00:50:00.000Z",
      "input": "/in/a.png", "stage": "load", "reason": "corrupt", "detail": "no end"}])"));
}

TEST(StatusJson, has_the_rates_and_shares_of_the_history) {
  History history;
  telemetry::Snapshot difference = test::filled_snapshot(1);
  difference.queues[1].capacity = 0;
  for (const double unix_s : {100, 101, 102}) history.add(unix_s, difference);
  const auto json = text::Json::parse(status_json({}, history, 101)).at("history");
  const auto value_of = [&](const text::Json& values) {
    EXPECT_EQ(values.size(), 1U) << "only times after `since`";
    return values.at(0).get<double>();
  };
  EXPECT_EQ(value_of(json.at("time_s")), 102);
  EXPECT_DOUBLE_EQ(value_of(json.at("images_per_s")), 1.1);
  EXPECT_DOUBLE_EQ(value_of(json.at("failed_per_s")), 1.3);
  EXPECT_DOUBLE_EQ(value_of(json.at("cores_busy")), 5.0 / 40);
  EXPECT_DOUBLE_EQ(value_of(json.at("stages").at("load")), 12 / 19.5);
  EXPECT_DOUBLE_EQ(value_of(json.at("queues").at("found")), 27.0 / 256);
  EXPECT_DOUBLE_EQ(value_of(json.at("queues").at("loaded")), 28);
  EXPECT_EQ(json.at("gpus").at(0).at("uuid"), "GPU-1");
  EXPECT_DOUBLE_EQ(value_of(json.at("gpus").at(0).at("busy")), 0.4);
  EXPECT_DOUBLE_EQ(value_of(json.at("gpus").at(0).at("power_w")), 300);
}

/// One for each second of ten minutes.
TEST(StatusJson, keeps_six_hundred_samples) {
  History history;
  for (int second = 1; second <= 601; ++second) history.add(second, {});
  ASSERT_EQ(history.samples().size(), 600U);
  EXPECT_EQ(history.samples().front().unix_s, 2);
}

}  // namespace
}  // namespace eckart::status_server
