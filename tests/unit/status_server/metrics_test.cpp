#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "status_server/run_status.hpp"
#include "tests/support/filled_snapshot.hpp"

namespace eckart::status_server {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Prometheus interprets a counter that decreases as the counter of a new process.
TEST(FoundTotalMetric, does_not_decrease_on_a_retry) {
  RunStatus status;
  status.identity.command = "watch";
  status.all.found = 2;
  EXPECT_THAT(metrics_text(status), HasSubstr("eckart_images_found_total{source=\"watch\"} 2\n"));
  status.all.found = 1;
  status.all.counts.retries_by_stage[std::size_t(Stage::load)] = 1;
  EXPECT_THAT(metrics_text(status), HasSubstr("eckart_images_found_total{source=\"watch\"} 2\n"));
}

/// One time is of the pipeline, the other of files that wait in watches; 0 means none.
TEST(OldestUnfinishedMetric, is_the_minimum_of_the_known_times) {
  const auto oldest = [](double in_pipeline_unix_s, double waiting_unix_s) {
    RunStatus status;
    status.all.oldest_unfinished_unix_s = in_pipeline_unix_s;
    status.state.oldest_waiting_unix_s = waiting_unix_s;
    return metrics_text(status);
  };
  const std::string name = "\neckart_oldest_unfinished_timestamp_seconds ";
  EXPECT_THAT(oldest(100, 50), HasSubstr(name + "50\n"));
  EXPECT_THAT(oldest(50, 100), HasSubstr(name + "50\n"));
  EXPECT_THAT(oldest(0, 100), HasSubstr(name + "100\n"));
  EXPECT_THAT(oldest(100, 0), HasSubstr(name + "100\n"));
  EXPECT_THAT(oldest(0, 0), HasSubstr(name + "0\n"));
}

/// One time is of this service, the other of those before its last reload; 0 means none.
TEST(LastSuccessMetric, is_kept_by_a_reload) {
  RunStatus status;
  status.state.last_done_unix_s = 100;
  const std::string name = "\neckart_last_success_timestamp_seconds ";
  EXPECT_THAT(metrics_text(status), HasSubstr(name + "100\n"));
  status.all.last_done_unix_s = 200;
  EXPECT_THAT(metrics_text(status), HasSubstr(name + "200\n"));
}

RunStatus status_of_two_watches() {
  RunStatus status;
  WatchStatus scans, photos;
  scans.name = "scans";
  scans.done = 5;
  scans.unfinished = 2;
  scans.quarantine_files = 3;
  scans.quarantine_bytes = 4096;
  scans.not_read = {{".tif", 10}, {"other", 2}};
  scans.not_read_total = 15;
  scans.free_bytes = 7000;
  photos.name = "photos";
  photos.condition = WatchCondition::waiting_for_space;
  photos.done = 4;
  photos.failed = 1;
  status.state.watches = {scans, photos};
  status.all.counts.done = 9;
  return status;
}

TEST(WatchMetric, has_the_name_of_the_watch) {
  const std::string text = metrics_text(status_of_two_watches());
  for (const char* line :
       {"eckart_images_total{watch=\"scans\",result=\"done\"} 5\n",
        "eckart_images_total{watch=\"photos\",result=\"failed\"} 1\n",
        "eckart_watch_state{watch=\"photos\",state=\"waiting for disk space\"} 1\n",
        "eckart_watch_state{watch=\"photos\",state=\"watching\"} 0\n",
        "eckart_watch_unfinished_images{watch=\"scans\"} 2\n",
        "eckart_quarantine_files{watch=\"scans\"} 3\n",
        "eckart_quarantine_bytes{watch=\"scans\"} 4096\n",
        "eckart_ignored_total{watch=\"scans\"} 15\n", "eckart_ignored_total{watch=\"photos\"} 0\n",
        "eckart_ignored_files{watch=\"scans\",extension=\".tif\"} 10\n",
        "eckart_free_bytes{watch=\"scans\"} 7000\n"})
    EXPECT_THAT(text, HasSubstr(line));
  EXPECT_THAT(text, Not(HasSubstr("eckart_free_bytes{watch=\"photos\"}"))) << "unknown";
}

/// Otherwise a sum over all series would count each image twice.
TEST(WatchMetric, has_no_other_series_with_the_total) {
  EXPECT_THAT(metrics_text(status_of_two_watches()), Not(HasSubstr("eckart_images_total{result=")));
  EXPECT_THAT(metrics_text({}), HasSubstr("eckart_images_total{result=\"done\"} 0\n"));
}

TEST(DegradedWatchMetric, calls_a_watch_in_a_backoff_paused) {
  EXPECT_THAT(metrics_text({}), HasSubstr("# HELP eckart_watch_degraded Watches that are paused,"));
}

/// The totals are of the whole run, the states of GPUs and batches of the last interval.
TEST(MetricText, has_the_values_of_the_status) {
  RunStatus status;
  status.identity.command = "watch", status.identity.version = "1.2.3";
  status.all = test::filled_snapshot(10);
  status.recent = status.all.since(test::filled_snapshot(8));
  status.recent.machine.gpus[0].busy_s = 15;
  status.recent.batches = {1, 6, 8};
  status.state.not_ready_reasons = {"no GPU"};
  status.state.are_gpus_healthy = false;
  status.state.overflows = 71, status.state.degraded_watches = 72, status.state.restarts = 73;
  const std::string text = metrics_text(status);
  for (const char* line : {
           R"(eckart_images_found_total{source="watch"} 1380)",
           R"(eckart_images_total{result="done"} 110)",
           R"(eckart_images_total{result="failed"} 130)",
           R"(eckart_images_total{result="skipped"} 120)",
           R"(eckart_failures_total{stage="load",reason="corrupt"} 160)",
           R"(eckart_failures_total{stage="write",reason="not written"} 170)",
           R"(eckart_failures_total{stage="source",reason="corrupt"} 0)",
           R"(eckart_retries_total{stage="load"} 180)",
           R"(eckart_retries_total{stage="compute"} 190)",
           "eckart_pixels_total 200000",
           "eckart_input_bytes_total 230000",
           "eckart_output_bytes_total 240000",
           "eckart_end_to_end_seconds_count 500",
           "eckart_end_to_end_seconds_sum 0.8",
           R"(eckart_end_to_end_seconds_bucket{le="0.001"} 0)",
           R"(eckart_end_to_end_seconds_bucket{le="0.0025"} 450)",
           R"(eckart_end_to_end_seconds_bucket{le="500"} 500)",
           R"(eckart_end_to_end_seconds_bucket{le="+Inf"} 500)",
           "eckart_backlog_images 1020",
           "eckart_oldest_unfinished_timestamp_seconds 1000",
           "eckart_last_success_timestamp_seconds 2000",
           R"(eckart_stage_workers{stage="load"} 2)",
           R"(eckart_stage_busy_seconds_total{stage="load"} 120)",
           R"(eckart_stage_waiting_seconds_total{stage="load",for="input"} 60)",
           R"(eckart_stage_waiting_seconds_total{stage="load",for="blocked"} 15)",
           R"(eckart_stage_cpu_seconds_total{stage="load"} 40)",
           R"(eckart_stage_duration_seconds_count{stage="load"} 100)",
           R"(eckart_stage_duration_seconds_count{stage="write"} 200)",
           R"(eckart_queue_images{queue="found"} 27)",
           R"(eckart_queue_capacity_images{queue="found"} 256)",
           R"(eckart_queue_wait_seconds_count{queue="found"} 300)",
           R"(eckart_queue_wait_seconds_count{queue="loaded"} 400)",
           "eckart_batch_fill_ratio 0.75",
           "eckart_ready 0",
           "eckart_watch_degraded 72",
           "eckart_watch_overflows_total 71",
           R"(eckart_process_restarts_total{cause="gpu_lost"} 73)",
           R"(eckart_build_info{version="1.2.3",backend="cuda"} 1)",
           "process_resident_memory_bytes 36700160",
           R"(eckart_gpu_healthy{gpu="GPU-1"} 0)",
           R"(eckart_gpu_busy_ratio{gpu="GPU-1"} 0.75)",
           R"(eckart_gpu_memory_used_bytes{gpu="GPU-1"} 41943040)",
           R"(eckart_gpu_power_watts{gpu="GPU-1"} 300)",
           R"(eckart_gpu_temperature_celsius{gpu="GPU-1"} 55)",
           R"(eckart_gpu_energy_joules_total{gpu="GPU-1"} 30000)",
           R"(eckart_gpu_throttled{gpu="GPU-1",reason="thermal"} 1)",
           R"(eckart_gpu_throttled{gpu="GPU-1",reason="power"} 0)",
           "eckart_gpu_oom_splits_total 330",
           "eckart_cpu_fallback_images_total 340",
       })
    EXPECT_THAT(text, HasSubstr('\n' + std::string(line) + '\n'));
  status.recent.batches = {};
  EXPECT_THAT(metrics_text(status), HasSubstr("\neckart_batch_fill_ratio 0.5\n"))
      << "of the whole run";
}

TEST(MetricText, has_the_start_and_the_cpu_time_of_the_process) {
  const std::string text = metrics_text({});
  const auto value_of = [&](const std::string& name) {
    return std::stod(text.substr(text.find('\n' + name + ' ') + name.size() + 2));
  };
  EXPECT_GT(value_of("process_cpu_seconds_total"), 0);
  EXPECT_GT(value_of("process_start_time_seconds"), 1.7e9);
}

/// Those that wait in the watches are not in the pipeline yet.
TEST(BacklogMetric, includes_files_that_wait_in_watches) {
  RunStatus status = status_of_two_watches();
  status.all.unfinished = 3;
  status.state.watches[0].waiting = 4, status.state.watches[1].waiting = 5;
  EXPECT_THAT(metrics_text(status), HasSubstr("\neckart_backlog_images 12\n"));
}

/// Until the clocks of a stage are read together, a difference may be slightly negative.
TEST(MetricText, has_no_negative_counter) {
  RunStatus status;
  telemetry::StageStats& stage = status.all.stages.emplace_back();
  stage.stage = Stage::load, stage.busy_s = -0.001;
  EXPECT_THAT(metrics_text(status),
              HasSubstr("\neckart_stage_busy_seconds_total{stage=\"load\"} 0\n"));
}

}  // namespace
}  // namespace eckart::status_server
