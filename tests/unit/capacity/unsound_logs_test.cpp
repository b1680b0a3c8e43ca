// Logs of which no plan can be made, or none of the cores: what it says then.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "capacity/plan.hpp"
#include "capacity/sentences.hpp"
#include "tests/unit/capacity/made_log.hpp"

namespace eckart::capacity::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Plan the_plan_of(const std::vector<LoggedRun>& runs, const Question& question = {}) {
  const std::vector<Plan> plans = make_plans(runs, question);
  EXPECT_EQ(plans.size(), 1U);
  return plans.at(0);
}

Predicted predicted_at(const Plan& plan, int cores) {
  for (const Predicted& at : plan.predictions) {
    if (at.cores == cores) return at;
  }
  ADD_FAILURE() << "nothing is predicted for " << cores << " cores";
  return {};
}

/// A run whose write threads wait for a disk that does `rate_per_s`, however many there are.
LoggedRun disk_run(const Lines& lines, double rate_per_s, int write_threads) {
  Lines slow = lines;
  slow.arrival_per_s = rate_per_s;
  LoggedRun run = made_run({}, slow);
  for (Sample& interval : run.intervals) {
    StageSample& write = interval.stages.at(2);
    write.workers = write_threads;
    write.busy_s = write_threads * interval.interval_s;
  }
  return run;
}

TEST(Disk, is_not_said_to_do_more_with_more_cores_than_it_was_seen_to) {
  const Plan plan = the_plan_of(
      {disk_run({.id = "1", .cores = 2}, 997, 2), disk_run({.id = "2", .cores = 4}, 1099, 3)});
  EXPECT_EQ(plan.present.saturated, "disk");
  EXPECT_EQ(plan.here.limit, "disk");
  EXPECT_NEAR(plan.here.rate_per_s.value, 1099, 2);
  for (const int cores : {4, 16, 64}) {
    EXPECT_NEAR(predicted_at(plan, cores).rate_per_s.value, 1099, 2) << cores;
    EXPECT_EQ(predicted_at(plan, cores).limit, "disk");
  }
  EXPECT_NEAR(predicted_at(plan, 2).rate_per_s.value, 997, 2);
  EXPECT_EQ(plan.gain_per_s(plan.one_more_core), 0);
  EXPECT_THAT(to_text(plan),
              AllOf(StartsWith("verdict    Buy no cores: the disk limits, at 1,09"),
                    HasSubstr("whether the disk does more is not in these logs: try threads.write, "
                              "durability, another disk")));
}

TEST(Disk, of_which_more_threads_only_wait_longer_has_the_better_rate_of_both) {
  std::vector<LoggedRun> runs = {disk_run({.id = "1", .cores = 2}, 997, 2),
                                 disk_run({.id = "2", .cores = 2}, 1099, 8)};
  runs[0].settings["threads.write"] = "2";
  runs[1].settings["threads.write"] = "8";
  EXPECT_NEAR(predicted_at(the_plan_of(runs), 16).rate_per_s.value, 1099, 2);
}

TEST(Disk, limits_where_its_threads_wait_for_most_of_the_time_and_nothing_else_is_busy) {
  LoggedRun run = disk_run({.cores = 2}, 1000, 8);
  for (Sample& interval : run.intervals) interval.stages.at(2).busy_s *= 0.8;
  EXPECT_EQ(the_plan_of({run}).here.limit, "disk");
  run.command = "watch";
  const Plan service = the_plan_of({run});
  EXPECT_EQ(service.present.saturated, "") << "it may have had no more to do";
  EXPECT_NEAR(service.here.rate_per_s.value, 1250, 5);
}

TEST(Disk, does_not_limit_threads_that_work) {
  const Plan plan = the_plan_of({made_run({}, {.cores = 4})});
  for (const Predicted& at : plan.predictions) EXPECT_NE(at.limit, "disk");
  EXPECT_THAT(verdict_sentence(plan), StartsWith("More cores help: 8 do at most 2.00 times"));
}

TEST(Noise, is_that_of_the_runs_and_a_great_one_is_said_first) {
  const std::vector<LoggedRun> runs = {
      made_run({}, {.id = "1", .cores = 2, .arrival_per_s = 3990}),
      made_run({.cpu_s = {{"compute", 25e-5}, {"load", 5e-5}, {"write", 4e-4}}},
               {.id = "2", .cores = 2})};
  const Plan plan = the_plan_of(runs);  // 3,990 and 2,857 images/s
  EXPECT_NEAR(plan.noise, 0.234, 0.01);
  const Interval here = plan.here.rate_per_s;
  EXPECT_LT(here.low, 2857);
  EXPECT_GT(here.high, 3990);
  ASSERT_FALSE(plan.contradictions.empty());
  EXPECT_THAT(to_text(plan),
              StartsWith("verdict    Do not buy from this: runs on 2 cores differ by "
                         "40 %"));
  EXPECT_THAT(to_text(plan), HasSubstr("something else worked on this machine, or the disk; do not "
                                       "buy from this"));
}

TEST(Noise, of_the_intervals_of_one_run_widens_what_is_said_of_it) {
  const Plan calm = the_plan_of({made_run({}, {.cores = 2, .seconds = 30})});
  const Plan wild = the_plan_of({made_run({.noise = 0.3}, {.cores = 2, .seconds = 30})});
  EXPECT_DOUBLE_EQ(calm.noise, kRunSpread);
  EXPECT_GT(wild.noise, 0.1);
}

TEST(Noise, leaves_sound_runs_without_a_warning) {
  std::vector<LoggedRun> runs;
  for (const int cores : {1, 2, 4}) {
    runs.push_back(made_run({.serial = 0.02}, {.id = std::to_string(cores), .cores = cores}));
  }
  const Plan plan = the_plan_of(runs);
  EXPECT_TRUE(plan.contradictions.empty());
  EXPECT_THAT(verdict_sentence(plan), StartsWith("More cores help: 8 do "));
}

TEST(Others, that_have_the_cores_are_named_and_not_a_disk) {
  LoggedRun run = made_run({}, {.cores = 2, .arrival_per_s = 800});
  for (Sample& interval : run.intervals) {
    for (StageSample& stage : interval.stages) {
      stage.busy_s = std::min(4 * stage.cpu_s, stage.workers * interval.interval_s);
    }
  }
  const Plan plan = the_plan_of({run});
  EXPECT_EQ(plan.present.saturated, "");
  EXPECT_THAT(verdict_sentence(plan), HasSubstr("something else had the cores"));
}

/// All that came in a minute came at once, and was done within an interval.
TEST(Disk, of_which_idle_threads_know_nothing) {
  LoggedRun run = made_run({}, {.cores = 2, .seconds = 60, .command = "watch"});
  for (std::size_t i = 0; i < run.intervals.size(); ++i) {
    Sample& interval = run.intervals[i];
    if (i == 3) continue;
    const auto none = [](StageSample& stage) { stage.busy_s = stage.cpu_s = 0; };
    std::ranges::for_each(interval.stages, none);
    interval.done = 0, interval.cpu_s = 0;
  }
  run.total.reset();
  const Plan plan = the_plan_of({run});
  EXPECT_NEAR(plan.present.rate_per_s, 4000, 1) << "while something came";
  EXPECT_GT(plan.here.rate_per_s.value, 3900);
  for (const Predicted& at : plan.predictions) EXPECT_NE(at.limit, "disk");
}

TEST(TooLittle, is_told_of_a_run_in_which_nothing_was_saturated) {
  const LoggedRun run =
      made_run({}, {.cores = 2, .seconds = 1, .interval_s = 0.5, .arrival_per_s = 1000});
  const Plan plan = the_plan_of({run}, {.target_per_s = 5000});
  EXPECT_TRUE(plan.is_too_little());
  EXPECT_NEAR(plan.here.rate_per_s.value, 1000, 5) << "at least";
  for (const Bound& bound : plan.bounds) {
    EXPECT_NEAR(bound.demand_s * plan.present.rate_per_s / bound.servers, bound.busy, 1e-9);
  }
  EXPECT_THAT(
      to_text(plan),
      AllOf(StartsWith("verdict    Too little to tell: nothing was saturated; 2 cores do at "
                       "least "),
            HasSubstr("longer run"), HasSubstr("what it takes is not known")));
}

TEST(Present, has_limit_next_capacity_and_shares_of_one_set) {
  const Machine machine{.cpu_s = {{"load", 1e-4}, {"write", 3e-4}}, .serial = 0.03};
  std::vector<LoggedRun> runs;
  for (const int cores : {2, 4}) {
    for (const char* again : {"a", "b"}) {
      runs.push_back(made_run({machine.cpu_s, machine.serial, 0, 0, 0.02},
                              {.id = std::to_string(cores) + again,
                               .cores = cores,
                               .seed = std::uint64_t(cores + again[0])}));
    }
  }
  const Plan plan = the_plan_of(runs);
  EXPECT_DOUBLE_EQ(plan.here.rate_per_s.value, plan.present.rate_per_s);
  EXPECT_DOUBLE_EQ(plan.here.rate_per_s.value, predicted_at(plan, 4).measured_per_s.value_or(0));
  EXPECT_EQ(plan.here.limit, plan.bounds.front().resource);
  for (const Bound& bound : plan.bounds) {
    EXPECT_NEAR(bound.rate_per_s.value * bound.busy, plan.present.rate_per_s, 1e-6);
  }
  EXPECT_THAT(next_sentence(plan), Not(HasSubstr("1.00 times")));
}

TEST(Rates, never_fall_with_more_cores_and_one_thread_is_as_fast_on_more) {
  Machine machine{.cpu_s = {{"source", 5e-5}, {"load", 1e-4}, {"write", 3e-4}}, .serial = 0.1};
  std::vector<LoggedRun> runs;
  for (const int cores : {1, 2, 4}) {
    runs.push_back(made_run(machine, {.id = std::to_string(cores), .cores = cores}));
    for (Sample& interval : runs.back().intervals) {
      StageSample& source = interval.stages.at(1);
      EXPECT_EQ(source.name, "source");
      source.workers = 1;
      source.busy_s = source.cpu_s = 5e-5 * double(interval.done);
    }
  }
  Question question;
  for (int n = 1; n <= 256; ++n) question.cores.push_back(n);
  const Plan plan = the_plan_of(runs, question);
  double before = 0;
  for (const Predicted& at : plan.predictions) {
    EXPECT_GE(at.rate_per_s.value, before) << at.cores;
    EXPECT_GE(at.rate_per_s.value, at.rate_per_s.low);
    before = at.rate_per_s.value;
    if (at.limit == "source") {
      EXPECT_NEAR(before, 20000, 200);
    }
  }
}

TEST(Rates, name_a_limit_that_is_a_setting) {
  const std::map<std::string, std::string> set = {{"threads.write", "2"}};
  const Machine machine{.cpu_s = {{"load", 1e-4}, {"write", 3e-4}}};
  const Plan plan = the_plan_of({made_run(machine, {.id = "1", .cores = 1, .settings = set}),
                                 made_run(machine, {.id = "2", .cores = 2, .settings = set})});
  EXPECT_THAT(to_text(plan), AllOf(HasSubstr("threads.write=2 was set in all runs, and limits; it "
                                             "could be raised"),
                                   HasSubstr("  threads.write=2\n")));
}

TEST(SerialFraction, is_not_measurable_where_runs_make_it_more_than_all) {
  Machine worse;
  for (auto& [stage, s] : worse.cpu_s) s *= 2.5;
  const Plan plan = the_plan_of(
      {made_run({}, {.id = "1", .cores = 1}), made_run(worse, {.id = "2", .cores = 2})});
  EXPECT_FALSE(plan.scaling.measured);
  EXPECT_THAT(amdahl_sentence(plan), HasSubstr("not measurable"));
  EXPECT_THAT(gustafson_sentence(plan), HasSubstr("not measurable"));
  EXPECT_THAT(to_json(plan), HasSubstr("\"serial_fraction_measured\":null"));
}

TEST(Question, of_what_cannot_be_told_is_answered_so) {
  const Plan plan = the_plan_of({made_run({}, {.cores = 2})},
                                {.target_per_s = 1e300, .images = 1e300, .gpus = {2}});
  EXPECT_THAT(to_text(plan),
              AllOf(Not(HasSubstr("-9,")), HasSubstr("over 1,000,000,000,000,000 a day"),
                    HasSubstr("these runs used no GPU")));
}

}  // namespace
}  // namespace eckart::capacity::test
