#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "status_server/run_status.hpp"

namespace eckart::status_server {
namespace {

using testing::HasSubstr;

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

TEST(DegradedWatchMetric, calls_a_watch_in_a_backoff_paused) {
  EXPECT_THAT(metrics_text({}), HasSubstr("# HELP eckart_watch_degraded Watches that are paused,"));
}

}  // namespace
}  // namespace eckart::status_server
