#include "reports/snapshot_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace eckart::reports {
namespace {

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
  EXPECT_THAT(text_of_rate(1, 86400), HasSubstr("rate       0.0000116 images/s"));
  EXPECT_THAT(text_of_rate(1, 100), HasSubstr("rate       0.01 images/s"));
  EXPECT_THAT(text_of_rate(123456, 1), HasSubstr("rate       123456 images/s"));
  EXPECT_THAT(text_of_rate(0, 1), HasSubstr("rate       0 images/s"));
}

TEST(SnapshotText, shows_a_long_latency_without_exponent) {
  telemetry::Snapshot snapshot;
  telemetry::DurationRecorder recorder;
  recorder.add(std::chrono::seconds(1234));
  snapshot.end_to_end = recorder.read();
  EXPECT_THAT(snapshot_text(snapshot, snapshot),
              AllOf(HasSubstr("latency    1"), Not(HasSubstr("e+"))));
}

TEST(SnapshotText, calls_a_worker_that_waits_for_capacity_blocked) {
  telemetry::Snapshot snapshot;
  snapshot.stages.emplace_back().blocked_s = 3;
  snapshot.seconds = 4;
  EXPECT_THAT(snapshot_text(snapshot, snapshot),
              AllOf(HasSubstr("input wait blocked  cores"), Not(HasSubstr("capacity"))));
}

}  // namespace
}  // namespace eckart::reports
