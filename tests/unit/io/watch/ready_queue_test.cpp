#include "io/watch/ready_queue.hpp"

#include <gmock/gmock.h>

#include "core/instant.hpp"

namespace eckart::io {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

FileFingerprint of_size(std::int64_t size) {
  return {.identity = {.state = {size, 0, 1}}, .directory = {}};
}
Instant at(int s) { return Instant{} + seconds(1000000 + s); }

class ReadyQueueTest : public testing::Test {
 protected:
  void push(const std::string& path, int deferrals = 0) {
    ready_queue_.push({path, of_size(1), 0, {}, deferrals});
  }
  /// Returns the path, or "".
  std::string pop(int s = 0) {
    const auto popped = ready_queue_.pop(at(s));
    return popped ? popped->path : "";
  }
  ReadyQueue::BackoffChange finish(const std::string& path, FinishStatus status, int s = 0) {
    return ready_queue_.finish(path, status, "why", at(s));
  }
  std::vector<std::string> take_finished() {
    std::vector<std::string> paths;
    for (const auto& each : ready_queue_.take_finished())
      paths.push_back(each.file.path + (each.has_changed ? " changed" : ""));
    return paths;
  }
  WatchState state() const {
    WatchState state;
    ready_queue_.fill_state(state);
    return state;
  }

  ReadyQueue ready_queue_{{.root = {}, .exclude = {}, .retry_timeout = seconds(30)}};
};

TEST_F(ReadyQueueTest, is_first_in_first_out) {
  push("b");
  push("a");
  EXPECT_EQ(pop(), "b");
  EXPECT_EQ(pop(), "a");
  EXPECT_EQ(pop(), "");
}

TEST_F(ReadyQueueTest, returns_a_finished_file_once_with_its_status) {
  push("a");
  pop();
  finish("a", FinishStatus::incomplete);
  EXPECT_EQ(state().in_flight, 1u) << "in flight until take_finished()";
  const auto finished = ready_queue_.take_finished();
  ASSERT_EQ(finished.size(), 1u);
  EXPECT_EQ(finished[0].status, FinishStatus::incomplete);
  EXPECT_FALSE(finished[0].has_changed);
  EXPECT_EQ(finished[0].file.first_attempt_at, at(0));
  EXPECT_EQ(state().in_flight, 0u);
  EXPECT_THAT(ready_queue_.take_finished(), IsEmpty());
}

TEST_F(ReadyQueueTest, ignores_a_file_that_is_not_in_flight) {
  push("a");
  finish("a", FinishStatus::done);
  finish("b", FinishStatus::done);
  EXPECT_THAT(take_finished(), IsEmpty());
  pop();
  finish("a", FinishStatus::done);
  finish("a", FinishStatus::incomplete);
  EXPECT_THAT(take_finished(), ElementsAre("a"));
}

TEST_F(ReadyQueueTest, removes_a_ready_file_that_changes) {
  push("a");
  push("b");
  EXPECT_FALSE(ready_queue_.mark_changed("a"));
  EXPECT_EQ(pop(), "b");
  EXPECT_EQ(pop(), "");
}

TEST_F(ReadyQueueTest, marks_a_file_that_changes_in_flight) {
  push("a");
  pop();
  EXPECT_TRUE(ready_queue_.mark_changed("a"));
  finish("a", FinishStatus::done);
  EXPECT_TRUE(ready_queue_.mark_changed("a")) << "in flight until take_finished()";
  EXPECT_THAT(take_finished(), ElementsAre("a changed"));
  EXPECT_FALSE(ready_queue_.mark_changed("a"));
}

TEST_F(ReadyQueueTest, drops_ready_files_below_a_removed_folder) {
  push("d/flies");
  EXPECT_EQ(pop(), "d/flies");
  for (const char* path : {"d/a", "d/e/b", "d", "d0/c"}) push(path);
  push("d/deferred", 1);
  EXPECT_EQ(ready_queue_.mark_changed_below("d"), 3u);
  EXPECT_EQ(pop(), "d");
  EXPECT_EQ(pop(), "d0/c");
  EXPECT_EQ(pop(), "");
  finish("d/flies", FinishStatus::done);
  finish("d0/c", FinishStatus::done);
  EXPECT_THAT(take_finished(), ElementsAre("d/flies changed", "d0/c"));
}

TEST_F(ReadyQueueTest, keeps_a_file_that_a_scan_finds_unchanged) {
  push("a");
  EXPECT_TRUE(ready_queue_.update_from_scan("a", of_size(1)));
  pop();
  EXPECT_TRUE(ready_queue_.update_from_scan("a", of_size(1)));
  finish("a", FinishStatus::done);
  EXPECT_THAT(take_finished(), ElementsAre("a"));
  EXPECT_FALSE(ready_queue_.update_from_scan("a", of_size(1)));
}

TEST_F(ReadyQueueTest, detects_a_change_without_an_event) {
  push("a");
  EXPECT_FALSE(ready_queue_.update_from_scan("a", of_size(2)));
  EXPECT_EQ(pop(), "");
  push("a");
  pop();
  EXPECT_TRUE(ready_queue_.update_from_scan("a", of_size(2)));
  finish("a", FinishStatus::done);
  EXPECT_THAT(take_finished(), ElementsAre("a changed"));
}

TEST_F(ReadyQueueTest, makes_the_last_attempt_at_the_retry_timeout) {
  ready_queue_.push({"a", of_size(1), 3, at(0)});
  EXPECT_FALSE(ready_queue_.pop(at(29))->is_last_attempt);
  ready_queue_.push({"b", of_size(1), 3, at(0)});
  EXPECT_TRUE(ready_queue_.pop(at(30))->is_last_attempt);
  push("c");
  EXPECT_FALSE(ready_queue_.pop(at(99))->is_last_attempt) << "this is the first attempt";
  WatchOptions no_retries;
  no_retries.retry_timeout = seconds(0);
  ReadyQueue queue(no_retries);
  queue.push({"a", of_size(1), 0, {}});
  EXPECT_TRUE(queue.pop(at(0))->is_last_attempt);
}

TEST_F(ReadyQueueTest, begins_backoff_once_after_an_environment_error) {
  for (const char* name : {"a", "b", "c"}) push(name);
  pop();
  pop();
  EXPECT_EQ(finish("a", FinishStatus::environment_error, 10), ReadyQueue::BackoffChange::began);
  EXPECT_EQ(finish("b", FinishStatus::environment_error, 10), ReadyQueue::BackoffChange::none);
  EXPECT_EQ(state().backoff_reason, "why");
  EXPECT_EQ(ready_queue_.retry_at(), at(11));
  EXPECT_EQ(pop(10), "");
  EXPECT_EQ(pop(11), "c");
}

TEST_F(ReadyQueueTest, ends_backoff_after_a_successful_probe) {
  for (const char* name : {"a", "b", "c"}) push(name);
  pop();
  finish("a", FinishStatus::environment_error);
  EXPECT_EQ(pop(1), "b");
  EXPECT_EQ(pop(100), "") << "while the probe is in flight";
  EXPECT_FALSE(ready_queue_.retry_at());
  EXPECT_EQ(finish("b", FinishStatus::done, 100), ReadyQueue::BackoffChange::ended);
  EXPECT_EQ(state().backoff_reason, "");
  EXPECT_EQ(pop(100), "c");
}

TEST_F(ReadyQueueTest, ends_backoff_after_an_incomplete_probe) {
  push("a");
  push("b");
  pop();
  finish("a", FinishStatus::environment_error);
  pop(1);
  EXPECT_EQ(finish("b", FinishStatus::incomplete), ReadyQueue::BackoffChange::ended);
}

TEST_F(ReadyQueueTest, doubles_the_backoff_up_to_thirty_times) {
  push("a");
  pop();
  finish("a", FinishStatus::environment_error, 0);
  int now = 0;
  for (const int wait : {1, 2, 4, 8, 16, 30, 30}) {
    take_finished();
    push("a");
    EXPECT_EQ(pop(now + wait - 1), "") << wait;
    EXPECT_EQ(pop(now + wait), "a") << wait;
    now += wait;
    EXPECT_EQ(finish("a", FinishStatus::environment_error, now), ReadyQueue::BackoffChange::none);
  }
  take_finished();
  push("a");
  pop(now + 30);
  EXPECT_EQ(finish("a", FinishStatus::done), ReadyQueue::BackoffChange::ended);
  take_finished();
  push("a");
  pop();
  finish("a", FinishStatus::environment_error, 0);
  EXPECT_EQ(state().backoff_reason, "why");
  push("b");
  EXPECT_EQ(ready_queue_.retry_at(), at(1)) << "the next backoff starts with the first wait";
}

TEST_F(ReadyQueueTest, puts_deferred_files_last) {
  push("bad", 1);
  push("good");
  push("worse", 2);
  EXPECT_EQ(pop(), "good");
  EXPECT_EQ(pop(), "bad");
  EXPECT_EQ(pop(), "worse");
}

TEST_F(ReadyQueueTest, does_not_lengthen_the_backoff_for_a_deferred_file) {
  push("bad");
  pop();
  finish("bad", FinishStatus::environment_error, 0);
  for (int now = 1; now < 10; ++now) {
    take_finished();
    push("bad", 1);
    EXPECT_EQ(pop(now), "bad") << now;
    finish("bad", FinishStatus::environment_error, now);
    EXPECT_EQ(pop(now), "");
  }
}

TEST_F(ReadyQueueTest, ends_backoff_when_idle) {
  push("a");
  pop();
  EXPECT_EQ(ready_queue_.end_backoff_if_idle(), ReadyQueue::BackoffChange::none);
  finish("a", FinishStatus::environment_error);
  EXPECT_EQ(ready_queue_.end_backoff_if_idle(), ReadyQueue::BackoffChange::none)
      << "in flight until take_finished()";
  take_finished();
  EXPECT_EQ(ready_queue_.end_backoff_if_idle(), ReadyQueue::BackoffChange::became_idle);
  EXPECT_EQ(state().backoff_reason, "");
  push("b");
  EXPECT_EQ(pop(), "b");
}

TEST_F(ReadyQueueTest, ignores_files_in_flight_before_the_backoff) {
  for (const char* name : {"a", "b", "c", "d"}) push(name);
  for (int i = 0; i < 3; ++i) pop();
  finish("a", FinishStatus::environment_error, 0);
  EXPECT_EQ(finish("b", FinishStatus::done, 0), ReadyQueue::BackoffChange::none);
  EXPECT_EQ(finish("c", FinishStatus::environment_error, 0), ReadyQueue::BackoffChange::none);
  EXPECT_EQ(ready_queue_.retry_at(), at(1));
}

TEST_F(ReadyQueueTest, has_bounded_capacity_and_reports_when_to_refill) {
  int count = 0;
  for (; ready_queue_.has_capacity(); ++count) push(std::to_string(count));
  EXPECT_EQ(count, 1024);
  int hints = 0;
  while (const auto popped = ready_queue_.pop(at(0))) hints += popped->needs_refill;
  EXPECT_EQ(hints, 1);
}

TEST_F(ReadyQueueTest, drops_ready_files_but_not_those_in_flight) {
  push("a");
  push("b");
  pop();
  ready_queue_.drop_ready();
  EXPECT_EQ(pop(), "");
  finish("a", FinishStatus::done);
  EXPECT_THAT(take_finished(), ElementsAre("a"));
}

}  // namespace
}  // namespace eckart::io
