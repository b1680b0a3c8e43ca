#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "status_server/run_status.hpp"

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

}  // namespace
}  // namespace eckart::status_server
