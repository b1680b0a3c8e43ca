#include "io/watch/ready_queue.hpp"

#include <gmock/gmock.h>

namespace eckart::io {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

FileFingerprint of_size(std::int64_t size) {
  return {.file = {.state = {size, 0, 1}}, .directory = {}};
}
Instant at(int s) { return Instant{} + seconds(1000000 + s); }

class ReadyQueueTest : public testing::Test {
 protected:
  void put(const std::string& path, int deferrals = 0) {
    ready_queue_.put({path, of_size(1), 0, {}, deferrals});
  }
  /// Returns the path, or "".
  std::string take(int s = 0) {
    const auto taken = ready_queue_.take(at(s));
    return taken ? taken->path : "";
  }
  ReadyQueue::BackoffChange finish(const std::string& path, FinishStatus ending, int s = 0) {
    return ready_queue_.finished(path, ending, "why", at(s));
  }
  std::vector<std::string> returned() {
    std::vector<std::string> paths;
    for (const auto& each : ready_queue_.returned())
      paths.push_back(each.file.path + (each.changed ? " changed" : ""));
    return paths;
  }
  WatchState state() const {
    WatchState state;
    ready_queue_.fill_state(state);
    return state;
  }

  ReadyQueue ready_queue_{WatchOptions{}};
};

TEST_F(ReadyQueueTest, is_first_in_first_out) {
  put("b");
  put("a");
  EXPECT_EQ(take(), "b");
  EXPECT_EQ(take(), "a");
  EXPECT_EQ(take(), "");
}

TEST_F(ReadyQueueTest, returns_a_finished_file_once_with_its_status) {
  put("a");
  take();
  finish("a", FinishStatus::incomplete);
  EXPECT_EQ(state().in_flight, 1u) << "until it is back";
  const auto returned = ready_queue_.returned();
  ASSERT_EQ(returned.size(), 1u);
  EXPECT_EQ(returned[0].ending, FinishStatus::incomplete);
  EXPECT_FALSE(returned[0].changed);
  EXPECT_EQ(returned[0].file.first_attempt, at(0));
  EXPECT_EQ(state().in_flight, 0u);
  EXPECT_THAT(ready_queue_.returned(), IsEmpty());
}

TEST_F(ReadyQueueTest, ignores_a_file_that_is_not_in_flight) {
  put("a");
  finish("a", FinishStatus::settled);
  finish("b", FinishStatus::settled);
  EXPECT_THAT(returned(), IsEmpty());
  take();
  finish("a", FinishStatus::settled);
  finish("a", FinishStatus::incomplete);
  EXPECT_THAT(returned(), ElementsAre("a"));
}

TEST_F(ReadyQueueTest, removes_a_ready_file_that_changes) {
  put("a");
  put("b");
  EXPECT_FALSE(ready_queue_.changed("a"));
  EXPECT_EQ(take(), "b");
  EXPECT_EQ(take(), "");
}

TEST_F(ReadyQueueTest, marks_a_file_that_changes_in_flight) {
  put("a");
  take();
  EXPECT_TRUE(ready_queue_.changed("a"));
  finish("a", FinishStatus::settled);
  EXPECT_TRUE(ready_queue_.changed("a")) << "is in flight until it is back";
  EXPECT_THAT(returned(), ElementsAre("a changed"));
  EXPECT_FALSE(ready_queue_.changed("a"));
}

TEST_F(ReadyQueueTest, drops_ready_files_below_a_removed_folder) {
  put("d/flies");
  EXPECT_EQ(take(), "d/flies");
  for (const char* path : {"d/a", "d/e/b", "d", "d0/c"}) put(path);
  put("d/deferred", 1);
  EXPECT_EQ(ready_queue_.mark_changed_below("d"), 3u);
  EXPECT_EQ(take(), "d");
  EXPECT_EQ(take(), "d0/c");
  EXPECT_EQ(take(), "");
  finish("d/flies", FinishStatus::settled);
  finish("d0/c", FinishStatus::settled);
  EXPECT_THAT(returned(), ElementsAre("d/flies changed", "d0/c"));
}

TEST_F(ReadyQueueTest, keeps_a_file_that_a_scan_finds_unchanged) {
  put("a");
  EXPECT_TRUE(ready_queue_.has("a", of_size(1)));
  take();
  EXPECT_TRUE(ready_queue_.has("a", of_size(1)));
  finish("a", FinishStatus::settled);
  EXPECT_THAT(returned(), ElementsAre("a"));
  EXPECT_FALSE(ready_queue_.has("a", of_size(1)));
}

TEST_F(ReadyQueueTest, detects_a_change_without_an_event) {
  put("a");
  EXPECT_FALSE(ready_queue_.has("a", of_size(2)));
  EXPECT_EQ(take(), "");
  put("a");
  take();
  EXPECT_TRUE(ready_queue_.has("a", of_size(2)));
  finish("a", FinishStatus::settled);
  EXPECT_THAT(returned(), ElementsAre("a changed"));
}

TEST_F(ReadyQueueTest, makes_the_last_attempt_at_the_retry_timeout) {
  ready_queue_.put({"a", of_size(1), 3, at(0)});
  EXPECT_FALSE(ready_queue_.take(at(29))->is_last_attempt);
  ready_queue_.put({"b", of_size(1), 3, at(0)});
  EXPECT_TRUE(ready_queue_.take(at(30))->is_last_attempt);
  put("c");
  EXPECT_FALSE(ready_queue_.take(at(99))->is_last_attempt) << "that is its first";
  WatchOptions no_retries;
  no_retries.retry_timeout = seconds(0);
  ReadyQueue handout(no_retries);
  handout.put({"a", of_size(1), 0, {}});
  EXPECT_TRUE(handout.take(at(0))->is_last_attempt);
}

TEST_F(ReadyQueueTest, begins_backoff_once_after_an_environment_error) {
  for (const char* name : {"a", "b", "c"}) put(name);
  take();
  take();
  EXPECT_EQ(finish("a", FinishStatus::environment, 10), ReadyQueue::BackoffChange::began);
  EXPECT_EQ(finish("b", FinishStatus::environment, 10), ReadyQueue::BackoffChange::none);
  EXPECT_EQ(state().backoff_reason, "why");
  EXPECT_EQ(ready_queue_.retry_at(), at(11));
  EXPECT_EQ(take(10), "");
  EXPECT_EQ(take(11), "c");
}

TEST_F(ReadyQueueTest, ends_backoff_after_a_successful_probe) {
  for (const char* name : {"a", "b", "c"}) put(name);
  take();
  finish("a", FinishStatus::environment);
  EXPECT_EQ(take(1), "b");
  EXPECT_EQ(take(100), "") << "while the probe is in flight";
  EXPECT_FALSE(ready_queue_.retry_at());
  EXPECT_EQ(finish("b", FinishStatus::settled, 100), ReadyQueue::BackoffChange::ended);
  EXPECT_EQ(state().backoff_reason, "");
  EXPECT_EQ(take(100), "c");
}

TEST_F(ReadyQueueTest, ends_backoff_after_an_incomplete_probe) {
  put("a");
  put("b");
  take();
  finish("a", FinishStatus::environment);
  take(1);
  EXPECT_EQ(finish("b", FinishStatus::incomplete), ReadyQueue::BackoffChange::ended);
}

TEST_F(ReadyQueueTest, doubles_the_backoff_up_to_thirty_times) {
  put("a");
  take();
  finish("a", FinishStatus::environment, 0);
  int now = 0;
  for (const int wait : {1, 2, 4, 8, 16, 30, 30}) {
    returned();
    put("a");
    EXPECT_EQ(take(now + wait - 1), "") << wait;
    EXPECT_EQ(take(now + wait), "a") << wait;
    now += wait;
    EXPECT_EQ(finish("a", FinishStatus::environment, now), ReadyQueue::BackoffChange::none);
  }
  returned();
  put("a");
  take(now + 30);
  EXPECT_EQ(finish("a", FinishStatus::settled), ReadyQueue::BackoffChange::ended);
  returned();
  put("a");
  take();
  finish("a", FinishStatus::environment, 0);
  EXPECT_EQ(state().backoff_reason, "why");
  put("b");
  EXPECT_EQ(ready_queue_.retry_at(), at(1)) << "and begin anew the next time";
}

TEST_F(ReadyQueueTest, puts_deferred_files_last) {
  put("bad", 1);
  put("good");
  put("worse", 2);
  EXPECT_EQ(take(), "good");
  EXPECT_EQ(take(), "bad");
  EXPECT_EQ(take(), "worse");
}

TEST_F(ReadyQueueTest, does_not_lengthen_the_backoff_for_a_deferred_file) {
  put("bad");
  take();
  finish("bad", FinishStatus::environment, 0);
  for (int now = 1; now < 10; ++now) {
    returned();
    put("bad", 1);
    EXPECT_EQ(take(now), "bad") << now;
    finish("bad", FinishStatus::environment, now);
    EXPECT_EQ(take(now), "");
  }
}

TEST_F(ReadyQueueTest, ends_backoff_when_idle) {
  put("a");
  take();
  EXPECT_EQ(ready_queue_.end_backoff_if_idle(), ReadyQueue::BackoffChange::none);
  finish("a", FinishStatus::environment);
  EXPECT_EQ(ready_queue_.end_backoff_if_idle(), ReadyQueue::BackoffChange::none)
      << "until it is back";
  returned();
  EXPECT_EQ(ready_queue_.end_backoff_if_idle(), ReadyQueue::BackoffChange::became_idle);
  EXPECT_EQ(state().backoff_reason, "");
  put("b");
  EXPECT_EQ(take(), "b");
}

TEST_F(ReadyQueueTest, ignores_files_in_flight_before_the_backoff) {
  for (const char* name : {"a", "b", "c", "d"}) put(name);
  for (int i = 0; i < 3; ++i) take();
  finish("a", FinishStatus::environment, 0);
  EXPECT_EQ(finish("b", FinishStatus::settled, 0), ReadyQueue::BackoffChange::none);
  EXPECT_EQ(finish("c", FinishStatus::environment, 0), ReadyQueue::BackoffChange::none);
  EXPECT_EQ(ready_queue_.retry_at(), at(1));
}

TEST_F(ReadyQueueTest, has_bounded_capacity_and_reports_when_to_refill) {
  int count = 0;
  for (; ready_queue_.has_capacity(); ++count) put(std::to_string(count));
  EXPECT_EQ(count, 1024);
  int hints = 0;
  while (const auto taken = ready_queue_.take(at(0))) hints += taken->needs_refill;
  EXPECT_EQ(hints, 1);
}

TEST_F(ReadyQueueTest, drops_ready_files_but_not_those_in_flight) {
  put("a");
  put("b");
  take();
  ready_queue_.drop_ready();
  EXPECT_EQ(take(), "");
  finish("a", FinishStatus::settled);
  EXPECT_THAT(returned(), ElementsAre("a"));
}

}  // namespace
}  // namespace eckart::io
