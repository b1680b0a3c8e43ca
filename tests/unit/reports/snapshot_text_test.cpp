#include "reports/snapshot_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/filled_snapshot.hpp"

namespace eckart::reports {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string text_of_rate(std::int64_t images, double seconds) {
  telemetry::Snapshot snapshot;
  snapshot.counts.done = images;
  snapshot.seconds = seconds;
  return snapshot_text(snapshot, snapshot);
}

TEST(SnapshotText, shows_a_rate_without_exponent) {
  EXPECT_THAT(text_of_rate(1, 86400), HasSubstr("rate       86,400 s/image"));
  EXPECT_THAT(text_of_rate(1, 100), HasSubstr("rate       100 s/image"));
  EXPECT_THAT(text_of_rate(123456, 1), HasSubstr("rate       123,456 images/s"));
  EXPECT_THAT(text_of_rate(0, 1), HasSubstr("rate       0 images/s"));
}

TEST(SnapshotText, shows_a_long_latency_without_exponent) {
  telemetry::Snapshot snapshot;
  telemetry::DurationRecorder recorder;
  recorder.add(std::chrono::seconds(1234));
  snapshot.end_to_end = recorder.read();
  EXPECT_THAT(snapshot_text(snapshot, snapshot),
              AllOf(HasSubstr("latency    20 min 20 s"), Not(HasSubstr("e+"))));
}

TEST(SnapshotText, calls_a_worker_that_waits_for_capacity_blocked) {
  telemetry::Snapshot snapshot;
  snapshot.stages.emplace_back().blocked_s = 3;
  snapshot.seconds = 4;
  EXPECT_THAT(snapshot_text(snapshot, snapshot),
              AllOf(HasSubstr("input wait blocked  cores"), Not(HasSubstr("capacity"))));
}

/// One stage, 10 s after the start.
telemetry::Snapshot make_busy_snapshot() {
  telemetry::DurationRecorder service;
  service.add(2ms, 10);
  telemetry::Snapshot snapshot;
  snapshot.elapsed_s = snapshot.seconds = 10;
  snapshot.unfinished = 40;
  snapshot.counts.done = 50;
  snapshot.counts.failed = 10;
  snapshot.queues = {{"found", 15, 256, {}}};
  telemetry::StageStats& stage = snapshot.stages.emplace_back();
  stage.stage = Stage::load;
  stage.workers = 1;
  stage.busy_s = 9.7;
  stage.waiting_for_input_s = 0.2;
  stage.blocked_s = 0.1;
  stage.service = service.read();
  snapshot.machine.cores = 2;
  return snapshot;
}

TEST(SnapshotText, has_counts_rates_and_the_bottleneck) {
  const telemetry::Snapshot all = make_busy_snapshot();
  const std::string text = snapshot_text(all, all);
  EXPECT_THAT(text, HasSubstr("50 done, 10 failed, 0 skipped, 40 unfinished, in 10.0 s\n"));
  EXPECT_THAT(text, HasSubstr("5.00 images/s in the last 10.0 s"));
  EXPECT_THAT(text, HasSubstr("stage    threads  busy input wait blocked  cores"));
  EXPECT_THAT(text, HasSubstr("load           1  97 %        2 %     1 %   0.00"));
  EXPECT_THAT(text, HasSubstr("found 15/256"));
  EXPECT_THAT(text, HasSubstr("load is the bottleneck: 97 % busy"));
  EXPECT_EQ(text.back(), '\n');
  EXPECT_EQ(short_bottleneck_text(all), "load 97 % busy");
}

TEST(SnapshotText, is_not_empty_before_the_first_image) {
  EXPECT_THAT(snapshot_text({}, {}), HasSubstr("no image finished recently"));
  EXPECT_EQ(short_bottleneck_text({}), "");
}

/// Counts are of the whole run. Rates and times are of the last interval.
TEST(SnapshotText, has_every_value_in_its_place) {
  const telemetry::Snapshot all = test::filled_snapshot(20);
  telemetry::Snapshot recent = all.since(test::filled_snapshot(18));
  recent.counts.done = 30;
  telemetry::DurationRecorder latency;
  latency.add(8ms);
  recent.end_to_end = latency.read();
  EXPECT_EQ(
      snapshot_text(all, recent),
      "images     220 done, 260 failed, 240 skipped, 2040 unfinished, in 200.0 s\n"
      "rate       1.50 images/s in the last 20.0 s, 1.10 images/s since the start\n"
      "stage    threads  busy input wait blocked  cores  p50, p90, p99\n"
      "load           2  62 %       31 %     8 %   0.40  1.01 ms, 2.03 ms, 4.06 ms\n"
      "write          1  20 %       69 %    11 %   0.05  1.01 ms, 2.03 ms, 4.06 ms\n"
      "queues     found 27/256, loaded 28/128; decoded images: 320 of 640 MiB\n"
      "latency    8.06 ms, 8.11 ms, 8.13 ms (p50, p90, p99, from found to published)\n"
      "process    0.50 of 4 cores, 35 MiB in memory, 37 threads\n"
      "gpu        GPU-1: 40 % busy, 40 MiB in use, 300 W, 1001 MHz, 55 °C, throttled: thermal\n"
      "bottleneck load is the bottleneck: 62 % busy. More threads may help: --set "
      "threads.load=auto\n");
}

}  // namespace
}  // namespace eckart::reports
