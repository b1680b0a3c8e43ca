#include "capacity/concurrent_runs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "capacity/plan_sentences.hpp"
#include "tests/unit/capacity/synthetic_log.hpp"

namespace eckart::capacity::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// A run of 10 s and 10,000 images with 12,000 bytes each, in one interval.
LoggedRun run_at(const std::string& id, const std::string& host, const std::string& time) {
  LoggedRun run{.id = id, .time = time, .host = host};
  run.intervals.push_back({.elapsed_s = 10, .interval_s = 10, .done = 9000, .failed = 1000});
  run.intervals.back().input_bytes = 120'000'000;
  run.intervals.back().output_bytes = 90'000'000;
  return run;
}

TEST(ConcurrentRunSum, is_none_if_runs_follow_each_other) {
  EXPECT_FALSE(concurrent_runs(
      {run_at("1", "a", "2026-11-22T10:00:00Z"), run_at("2", "a", "2026-11-22T10:00:10Z")}));
  EXPECT_FALSE(concurrent_runs({run_at("1", "a", ""), run_at("2", "b", "")}));
}

TEST(ConcurrentRunSum, has_the_rates_of_all_nodes_and_of_each) {
  const auto runs = concurrent_runs({run_at("1", "a", "2026-11-22T10:00:00Z"),
                                     run_at("2", "a", "2026-11-22T10:00:05Z"),
                                     run_at("3", "b", "2026-11-22T10:00:10.000Z")});
  ASSERT_TRUE(runs);
  EXPECT_EQ(runs->runs, 3);
  EXPECT_EQ(runs->most_at_once, 2);
  EXPECT_EQ(runs->images, 30'000);
  EXPECT_DOUBLE_EQ(runs->elapsed_s, 20);
  EXPECT_DOUBLE_EQ(runs->images_per_s(), 1500);
  EXPECT_DOUBLE_EQ(runs->idle_share, 1 - 30.0 / 40);
  EXPECT_DOUBLE_EQ(runs->read_bytes_per_s, 18e6);
  EXPECT_DOUBLE_EQ(runs->written_bytes_per_s, 13.5e6);
  EXPECT_DOUBLE_EQ(runs->files_per_s, 57'000 / 20.0) << "1,000 images of each run have no output";
  ASSERT_EQ(runs->nodes.size(), 2U);
  EXPECT_EQ(runs->nodes[0].host, "a");
  EXPECT_EQ(runs->nodes[0].most_at_once, 2);
  EXPECT_DOUBLE_EQ(runs->nodes[0].images_per_s(), 20'000 / 15.0);
  EXPECT_EQ(runs->nodes[1].most_at_once, 1);
}

TEST(ConcurrentRunSum, is_that_of_the_largest_of_several_jobs) {
  const auto runs = concurrent_runs(
      {run_at("1", "a", "2026-11-22T10:00:00Z"), run_at("2", "b", "2026-11-22T10:00:00Z"),
       run_at("3", "a", "2026-11-22T11:00:00Z"), run_at("4", "b", "2026-11-22T11:00:05Z"),
       run_at("5", "b", "2026-11-22T11:00:14Z")});
  ASSERT_TRUE(runs);
  EXPECT_EQ(runs->runs, 3);
  EXPECT_DOUBLE_EQ(runs->elapsed_s, 24);
}

TEST(ConcurrentRunSum, is_in_the_text_of_a_plan) {
  LoggedRun first = synthetic_run({}, {.id = "1"}), second = synthetic_run({}, {.id = "2"});
  first.settings["ledger.file"] = "\"/tmp/1.db\"";  // as those of shards
  const std::string one = to_text(single_plan({first}));
  EXPECT_THAT(one, Not(HasSubstr("Nodes")));
  const std::string text = to_text(single_plan({first, second}));
  EXPECT_THAT(text, HasSubstr("Nodes\n  node  runs  at once"));
  EXPECT_THAT(text, HasSubstr("of 2 runs at the same time, 0 % of the time was"));
  EXPECT_THAT(text, HasSubstr("Up to 2 runs shared a node"));
  EXPECT_THAT(to_html({single_plan({first, second})}, {}), HasSubstr("files/s"));
}

TEST(LogTime, is_in_seconds_since_1970) {
  EXPECT_EQ(parse_log_time("1970-01-02T00:00:01.5Z"), 86401.5);
  EXPECT_EQ(parse_log_time("1970-01-02T00:00:01Z"), 86401);
  for (const char* text : {"", "yesterday", "1970-01-02", "1970-01-02T00:00:01"})
    EXPECT_EQ(parse_log_time(text), std::nullopt) << text;
}

}  // namespace
}  // namespace eckart::capacity::test
