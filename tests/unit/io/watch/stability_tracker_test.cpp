#include "io/watch/stability_tracker.hpp"

#include <gmock/gmock.h>

#include <vector>

#include "core/instant.hpp"

namespace eckart::io {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

FileFingerprint with_size(std::int64_t size) {
  return {.identity = {.state = {size, 0, 1}}, .directory = {}};
}

class StabilityTrackerTest : public testing::Test {
 protected:
  static WatchOptions options(std::size_t max_pending = 1000) {
    WatchOptions options;
    options.settle_time = seconds(1);
    options.retry_timeout = seconds(30);
    options.max_pending = max_pending;
    return options;
  }

  /// `s` seconds after the start.
  static Instant at(double s) {
    return Instant{} + std::chrono::hours(1000) + milliseconds(std::int64_t(s * 1000));
  }
  /// Checks all due files; each has this size. Returns those that are ready.
  std::vector<std::string> ready(double s, std::int64_t size = 1) {
    std::vector<std::string> names;
    while (const std::string* due = stability_tracker_.due_path(at(s))) {
      if (auto file =
              stability_tracker_.take_if_stable(std::string(*due), with_size(size), at(s))) {
        names.push_back(file->path);
        last_ = *file;
      }
    }
    return names;
  }
  /// Reports the files that are ready at that time as incomplete.
  bool fail_attempt(double s) {
    if (ready(s).empty()) return false;
    if (!last_.first_attempt_at) last_.first_attempt_at = at(s);
    stability_tracker_.add_incomplete(last_, at(s));
    return true;
  }

  StabilityTracker stability_tracker_{options()};
  ReadyFile last_;
};

TEST_F(StabilityTrackerTest, keeps_the_oldest_time_of_equal_ones) {
  stability_tracker_.add_changed("a", with_size(1), at(0));
  stability_tracker_.add_changed("b", with_size(1), at(0));
  stability_tracker_.add_changed("c", with_size(1), at(5));
  stability_tracker_.remove("a");
  EXPECT_EQ(stability_tracker_.oldest_arrival(), at(0));
  stability_tracker_.remove("b");
  EXPECT_EQ(stability_tracker_.oldest_arrival(), at(5));
  stability_tracker_.remove("c");
  EXPECT_EQ(stability_tracker_.oldest_arrival(), std::nullopt);
}

TEST_F(StabilityTrackerTest, returns_a_file_that_was_stable_for_the_settle_time) {
  EXPECT_TRUE(stability_tracker_.add_changed("a", with_size(1), at(0)));
  EXPECT_EQ(stability_tracker_.next_due(), at(1));
  EXPECT_THAT(ready(0.999), IsEmpty());
  EXPECT_THAT(ready(1), ElementsAre("a"));
  EXPECT_EQ(stability_tracker_.size(), 0u);
  EXPECT_FALSE(stability_tracker_.next_due());
}

TEST_F(StabilityTrackerTest, restarts_the_wait_on_every_event) {
  stability_tracker_.add_changed("a", with_size(1), at(0));
  stability_tracker_.add_changed("a", with_size(1), at(0.9));
  EXPECT_THAT(ready(1.8), IsEmpty());
  EXPECT_THAT(ready(1.9), ElementsAre("a"));
}

TEST_F(StabilityTrackerTest, restarts_the_wait_when_the_fingerprint_differs) {
  stability_tracker_.add_changed("a", with_size(1), at(0));
  EXPECT_THAT(ready(1, 2), IsEmpty());
  EXPECT_THAT(ready(1.9, 2), IsEmpty());
  EXPECT_THAT(ready(2, 3), IsEmpty());
  EXPECT_THAT(ready(3, 3), ElementsAre("a"));
}

TEST_F(StabilityTrackerTest, compares_size_times_inode_device_and_directory) {
  const FileFingerprint first{{{1, 1, 1}, 1, 1}, {1, 1}};
  for (const FileFingerprint& other :
       {FileFingerprint{{{2, 1, 1}, 1, 1}, {1, 1}}, FileFingerprint{{{1, 2, 1}, 1, 1}, {1, 1}},
        FileFingerprint{{{1, 1, 2}, 1, 1}, {1, 1}}, FileFingerprint{{{1, 1, 1}, 2, 1}, {1, 1}},
        FileFingerprint{{{1, 1, 1}, 1, 2}, {1, 1}}, FileFingerprint{{{1, 1, 1}, 1, 1}, {2, 1}},
        FileFingerprint{{{1, 1, 1}, 1, 1}, {1, 2}}}) {
    stability_tracker_.add_changed("a", first, at(0));
    EXPECT_FALSE(stability_tracker_.take_if_stable("a", other, at(1)));
    stability_tracker_.remove("a");
  }
  stability_tracker_.add_changed("a", first, at(0));
  EXPECT_TRUE(stability_tracker_.take_if_stable("a", first, at(1)));
}

TEST_F(StabilityTrackerTest, counts_stability_from_the_time_a_scan_reports) {
  stability_tracker_.add_scanned("old", with_size(1), at(9), at(10));
  stability_tracker_.add_scanned("newer", with_size(1), at(9.7), at(10));
  stability_tracker_.add_scanned("new", with_size(1), at(10), at(10));
  EXPECT_THAT(ready(10), ElementsAre("old"));
  EXPECT_THAT(ready(10.7), ElementsAre("newer"));
  EXPECT_THAT(ready(11), ElementsAre("new"));
}

TEST_F(StabilityTrackerTest, does_not_restart_the_wait_on_a_scan) {
  stability_tracker_.add_scanned("a", with_size(1), at(0), at(0));
  for (const double s : {0.3, 0.6, 0.9})
    stability_tracker_.add_scanned("a", with_size(1), at(s), at(s));
  EXPECT_THAT(ready(1), ElementsAre("a"));
}

TEST_F(StabilityTrackerTest, restarts_the_wait_when_a_scan_finds_a_change) {
  stability_tracker_.add_scanned("a", with_size(1), at(0), at(0));
  stability_tracker_.add_scanned("a", with_size(2), at(0.5), at(0.6));
  EXPECT_THAT(ready(1.5, 2), IsEmpty());
  EXPECT_THAT(ready(1.6, 2), ElementsAre("a"));
}

TEST_F(StabilityTrackerTest, returns_files_in_due_order) {
  stability_tracker_.add_changed("c", with_size(1), at(0));
  stability_tracker_.add_changed("a", with_size(1), at(0));
  stability_tracker_.add_changed("b", with_size(1), at(0.1));
  stability_tracker_.add_changed("c", with_size(1), at(0.2));
  EXPECT_THAT(ready(2), ElementsAre("a", "b", "c"));
}

TEST_F(StabilityTrackerTest, does_not_return_forgotten_files) {
  stability_tracker_.add_changed("a", with_size(1), at(0));
  stability_tracker_.add_changed("b", with_size(1), at(0));
  stability_tracker_.remove("a");
  stability_tracker_.remove("never there");
  EXPECT_THAT(ready(1), ElementsAre("b"));
}

TEST_F(StabilityTrackerTest, does_not_return_files_below_a_removed_folder) {
  for (const char* path : {"d/a", "d/e/b", "d", "d0/c", "d.png", "c"})
    stability_tracker_.add_changed(path, with_size(1), at(0));
  EXPECT_EQ(stability_tracker_.remove_below("d"), 2u);
  EXPECT_EQ(stability_tracker_.size(), 4u);
  EXPECT_THAT(ready(1), testing::UnorderedElementsAre("d", "d0/c", "d.png", "c"));
  EXPECT_EQ(stability_tracker_.oldest_arrival(), std::nullopt);
}

TEST_F(StabilityTrackerTest, retries_an_incomplete_file_at_growing_intervals) {
  stability_tracker_.add_changed("a", with_size(1), at(0));
  EXPECT_TRUE(fail_attempt(1));
  for (const double due : {2.0, 4.0, 8.0, 16.0}) {
    EXPECT_FALSE(fail_attempt(due - 0.001)) << due;
    EXPECT_TRUE(fail_attempt(due)) << due;
  }
}

TEST_F(StabilityTrackerTest, makes_the_last_attempt_at_the_retry_timeout) {
  stability_tracker_.add_changed("a", with_size(1), at(0));
  for (const double due : {1.0, 2.0, 4.0, 8.0, 16.0}) EXPECT_TRUE(fail_attempt(due));
  EXPECT_EQ(stability_tracker_.next_due(), at(31)) << "not 32";
}

TEST_F(StabilityTrackerTest, allows_one_attempt_after_the_retry_timeout) {
  stability_tracker_.add_changed("a", with_size(1), at(0));
  ready(1);
  last_.first_attempt_at = at(1);
  stability_tracker_.add_incomplete(last_, at(100));
  EXPECT_EQ(stability_tracker_.next_due(), at(101));
}

TEST_F(StabilityTrackerTest, restarts_the_retry_timeout_on_a_change) {
  stability_tracker_.add_changed("a", with_size(1), at(0));
  for (const double due : {1.0, 2.0, 4.0}) EXPECT_TRUE(fail_attempt(due));
  stability_tracker_.add_changed("a", with_size(2), at(4.5));
  EXPECT_THAT(ready(5.5, 2), ElementsAre("a")) << "does not wait for the next attempt";
  EXPECT_EQ(last_.incomplete_attempts, 0);
  EXPECT_FALSE(last_.first_attempt_at);
}

TEST_F(StabilityTrackerTest, keeps_attempts_and_timeout_without_a_change) {
  stability_tracker_.add_changed("a", with_size(1), at(0));
  EXPECT_TRUE(fail_attempt(1));
  EXPECT_TRUE(fail_attempt(2));
  stability_tracker_.add_changed("a", with_size(1), at(2.1));
  EXPECT_THAT(ready(3.9), IsEmpty());
  EXPECT_THAT(ready(4), ElementsAre("a"));
  EXPECT_EQ(last_.incomplete_attempts, 2);
  EXPECT_EQ(last_.first_attempt_at, at(1));
}

TEST_F(StabilityTrackerTest, waits_for_stability_before_a_retry) {
  stability_tracker_.add_changed("a", with_size(1), at(0));
  EXPECT_TRUE(fail_attempt(1));
  stability_tracker_.add_changed("a", with_size(1), at(1.8));
  EXPECT_THAT(ready(2.7), IsEmpty());
  EXPECT_THAT(ready(2.8), ElementsAre("a"));
}

TEST_F(StabilityTrackerTest, keeps_the_history_of_a_deferred_file) {
  stability_tracker_.add_changed("a", with_size(1), at(0));
  EXPECT_TRUE(fail_attempt(1));
  EXPECT_THAT(ready(2), ElementsAre("a"));
  stability_tracker_.add_deferred(last_, at(2.5));
  EXPECT_THAT(ready(3.5), ElementsAre("a"));
  EXPECT_EQ(last_.incomplete_attempts, 1);
  EXPECT_EQ(last_.first_attempt_at, at(1));
}

TEST_F(StabilityTrackerTest, doubles_the_delay_of_a_deferred_file_up_to_thirty_times) {
  stability_tracker_.add_changed("a", with_size(1), at(0));
  EXPECT_THAT(ready(1), ElementsAre("a"));
  double now = 1;
  for (const int wait : {1, 2, 4, 8, 16, 30, 30}) {
    stability_tracker_.add_deferred(last_, at(now));
    now += wait;
    EXPECT_THAT(ready(now - 0.1), IsEmpty()) << wait;
    EXPECT_THAT(ready(now), ElementsAre("a")) << wait;
  }
  stability_tracker_.add_deferred(last_, at(now));
  stability_tracker_.add_changed("a", with_size(2), at(now));
  EXPECT_THAT(ready(now + 1, 2), ElementsAre("a")) << "a change resets the backoff";
  EXPECT_EQ(last_.deferrals, 0);
}

TEST_F(StabilityTrackerTest, rejects_new_files_at_capacity) {
  StabilityTracker tracker(options(2));
  EXPECT_TRUE(tracker.add_changed("a", with_size(1), at(0)));
  EXPECT_TRUE(tracker.add_scanned("b", with_size(1), at(0), at(0)));
  EXPECT_FALSE(tracker.add_changed("c", with_size(1), at(0)));
  EXPECT_FALSE(tracker.add_scanned("c", with_size(1), at(0), at(0)));
  EXPECT_TRUE(tracker.add_changed("a", with_size(2), at(0)));
  EXPECT_TRUE(tracker.add_scanned("b", with_size(2), at(0), at(0)));
  EXPECT_EQ(tracker.size(), 2u);
  tracker.remove("a");
  EXPECT_TRUE(tracker.add_changed("c", with_size(1), at(0)));
}

TEST_F(StabilityTrackerTest, accepts_retried_files_over_capacity) {
  StabilityTracker tracker(options(1));
  tracker.add_changed("a", with_size(1), at(0));
  tracker.add_incomplete({"b", with_size(1), 0, at(0)}, at(0));
  tracker.add_deferred({"c", with_size(1), 0, {}}, at(0));
  EXPECT_EQ(tracker.size(), 3u);
}

TEST_F(StabilityTrackerTest, holds_fifty_thousand_files) {
  StabilityTracker tracker(options(50000));
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 50000; ++i)
      EXPECT_TRUE(tracker.add_changed(std::to_string(i), with_size(round), at(0.001 * i)));
  }
  int count = 0;
  while (const std::string* due = tracker.due_path(at(100))) {
    EXPECT_EQ(*due, std::to_string(count));
    EXPECT_TRUE(tracker.take_if_stable(std::string(*due), with_size(2), at(100)));
    ++count;
  }
  EXPECT_EQ(count, 50000);
}

}  // namespace
}  // namespace eckart::io
