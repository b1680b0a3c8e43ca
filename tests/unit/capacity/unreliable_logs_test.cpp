// Logs from which no plan, or no prediction for cores, can be made, and the resulting texts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "capacity/plan.hpp"
#include "capacity/plan_answer.hpp"
#include "capacity/plan_sentences.hpp"
#include "core/default_threads.hpp"
#include "tests/unit/capacity/synthetic_log.hpp"

namespace eckart::capacity::test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

PredictionRow predicted_at(const Plan& plan, int cores) {
  for (const PredictionRow& at : plan.predictions) {
    if (at.cores == cores) return at;
  }
  ADD_FAILURE() << "nothing is predicted for " << cores << " cores";
  return {};
}

/// A run whose write threads wait for a disk with the rate `rate_per_s`, regardless of their
/// number.
LoggedRun disk_run(const SyntheticRunOptions& lines, double rate_per_s, int write_threads) {
  SyntheticRunOptions slow = lines;
  slow.arrival_per_s = rate_per_s;
  LoggedRun run = synthetic_run({}, slow);
  for (ThroughputSample& interval : run.intervals) {
    StageSample& write = interval.stages.at(2);
    write.workers = write_threads;
    write.busy_s = write_threads * interval.interval_s;
  }
  return run;
}

TEST(DiskLimit, is_not_predicted_above_the_observed_rate) {
  const Plan plan = single_plan(
      {disk_run({.id = "1", .cores = 2}, 997, 2), disk_run({.id = "2", .cores = 4}, 1099, 3)});
  EXPECT_EQ(plan.baseline.saturated, Resource::disk);
  EXPECT_EQ(plan.current_capacity.bottleneck, Resource::disk);
  EXPECT_NEAR(plan.current_capacity.rate_per_s.value, 1099, 2);
  for (const int cores : {4, 16, 64}) {
    EXPECT_NEAR(predicted_at(plan, cores).rate_per_s.value, 1099, 2) << cores;
    EXPECT_EQ(predicted_at(plan, cores).bottleneck, Resource::disk);
  }
  EXPECT_NEAR(predicted_at(plan, 2).rate_per_s.value, 997, 2);
  EXPECT_EQ(plan.gain_per_s(plan.one_more_core), 0);
  EXPECT_THAT(reasons(plan), AllOf(Contains(HasSubstr("The disk is the limit")),
                                   Contains("More cores do not help.")));
}

TEST(DiskLimit, uses_the_best_rate_of_runs_with_different_threads) {
  std::vector<LoggedRun> runs = {disk_run({.id = "1", .cores = 2}, 997, 2),
                                 disk_run({.id = "2", .cores = 2}, 1099, 8)};
  runs[0].settings["threads.write"] = "2";
  runs[1].settings["threads.write"] = "8";
  EXPECT_NEAR(predicted_at(single_plan(runs), 16).rate_per_s.value, 1099, 2);
}

TEST(DiskLimit, limits_the_rate_when_its_threads_mostly_wait_and_nothing_is_busy) {
  LoggedRun run = disk_run({.cores = 2}, 1000, 8);
  for (ThroughputSample& interval : run.intervals) interval.stages.at(2).busy_s *= 0.8;
  EXPECT_EQ(single_plan({run}).current_capacity.bottleneck, Resource::disk);
  run.command = "watch";
  const Plan service = single_plan({run});
  EXPECT_EQ(service.baseline.saturated, std::nullopt) << "it may have had no more to do";
  EXPECT_NEAR(service.current_capacity.rate_per_s.value, 1250, 5);
}

TEST(DiskLimit, does_not_limit_threads_that_work) {
  const Plan plan = single_plan({synthetic_run({}, {.cores = 4})});
  for (const PredictionRow& at : plan.predictions) EXPECT_NE(at.bottleneck, Resource::disk);
  EXPECT_THAT(reasons(plan), Contains("8 cores do at most 2.00 times as much."));
}

TEST(RunNoise, comes_from_repeated_runs_and_is_in_the_answer_if_large) {
  const std::vector<LoggedRun> runs = {
      synthetic_run({}, {.id = "1", .cores = 2, .arrival_per_s = 3990}),
      synthetic_run({.cpu_s = {{Stage::compute, 25e-5}, {Stage::load, 5e-5}, {Stage::write, 4e-4}}},
                    {.id = "2", .cores = 2})};
  const Plan plan = single_plan(runs);  // 3,990 and 2,857 images/s
  EXPECT_NEAR(plan.noise, 0.234, 0.01);
  const Estimate current_capacity = plan.current_capacity.rate_per_s;
  EXPECT_LT(current_capacity.low, 2857);
  EXPECT_GT(current_capacity.high, 3990);
  ASSERT_FALSE(plan.contradictions.empty());
  EXPECT_THAT(answer(plan).text, HasSubstr("but runs on 2 cores differ by 40 %"));
  EXPECT_THAT(caveats(plan), Contains(HasSubstr("other programs or the disk disturbed")));
}

TEST(RunNoise, widens_the_estimate_if_intervals_differ) {
  const Plan calm = single_plan({synthetic_run({}, {.cores = 2, .seconds = 30})});
  const Plan wild = single_plan({synthetic_run({.noise = 0.3}, {.cores = 2, .seconds = 30})});
  EXPECT_DOUBLE_EQ(calm.noise, kRunNoise);
  EXPECT_GT(wild.noise, 0.1);
}

TEST(RunNoise, leaves_sound_runs_without_a_warning) {
  std::vector<LoggedRun> runs;
  for (const int cores : {1, 2, 4}) {
    runs.push_back(
        synthetic_run({.serial_fraction = 0.02}, {.id = std::to_string(cores), .cores = cores}));
  }
  const Plan plan = single_plan(runs);
  EXPECT_TRUE(plan.contradictions.empty());
  EXPECT_THAT(reasons(plan), Contains(StartsWith("8 cores do 1.")));
}

TEST(CpuContention, is_reported_instead_of_a_disk_limit) {
  LoggedRun run = synthetic_run({}, {.cores = 2, .arrival_per_s = 800});
  for (ThroughputSample& interval : run.intervals) {
    for (StageSample& stage : interval.stages) {
      stage.busy_s = std::min(4 * stage.cpu_s, stage.workers * interval.interval_s);
    }
  }
  const Plan plan = single_plan({run});
  EXPECT_EQ(plan.baseline.saturated, std::nullopt);
  EXPECT_THAT(answer(plan).text, HasSubstr("other programs used its cores"));
}

/// All arrivals of a minute came at once and were done within one interval.
TEST(DiskLimit, is_not_derived_from_idle_threads) {
  LoggedRun run = synthetic_run({}, {.cores = 2, .seconds = 60, .command = "watch"});
  for (std::size_t i = 0; i < run.intervals.size(); ++i) {
    ThroughputSample& interval = run.intervals[i];
    if (i == 3) continue;
    const auto none = [](StageSample& stage) { stage.busy_s = stage.cpu_s = 0; };
    std::ranges::for_each(interval.stages, none);
    interval.done = 0, interval.cpu_s = 0;
  }
  run.total.reset();
  const Plan plan = single_plan({run});
  EXPECT_NEAR(plan.baseline.rate_per_s, 4000, 1) << "while something came";
  EXPECT_GT(plan.current_capacity.rate_per_s.value, 3900);
  for (const PredictionRow& at : plan.predictions) EXPECT_NE(at.bottleneck, Resource::disk);
}

TEST(InconclusivePlan, is_reported_when_nothing_was_saturated) {
  const LoggedRun run =
      synthetic_run({}, {.cores = 2, .seconds = 1, .interval_s = 0.5, .arrival_per_s = 1000});
  const Plan plan = single_plan({run}, {.target_per_s = 3000});
  EXPECT_TRUE(plan.is_inconclusive());
  EXPECT_NEAR(plan.current_capacity.rate_per_s.value, 1000, 5) << "at least";
  for (const Bound& bound : plan.bounds) {
    EXPECT_NEAR(bound.demand_s * plan.baseline.rate_per_s / bound.servers, bound.utilization, 1e-9);
  }
  EXPECT_THAT(answer(plan).text, AllOf(StartsWith("Cannot tell: the target is 3,000 images/s; "
                                                  "this machine does at least "),
                                       HasSubstr("log a run of some minutes")));
}

TEST(Baseline, has_consistent_bottleneck_capacity_and_utilization) {
  const SyntheticMachine machine{.cpu_s = {{Stage::load, 1e-4}, {Stage::write, 3e-4}},
                                 .serial_fraction = 0.03};
  std::vector<LoggedRun> runs;
  for (const int cores : {2, 4}) {
    for (const char* again : {"a", "b"}) {
      runs.push_back(synthetic_run({machine.cpu_s, machine.serial_fraction, 0, 0, 0.02},
                                   {.id = std::to_string(cores) + again,
                                    .cores = cores,
                                    .settings = {{"threads.load", "2"}, {"threads.write", "3"}},
                                    .seed = std::uint64_t(cores + again[0])}));
    }
  }
  const Plan plan = single_plan(runs);
  EXPECT_DOUBLE_EQ(plan.current_capacity.rate_per_s.value, plan.baseline.rate_per_s);
  EXPECT_DOUBLE_EQ(plan.current_capacity.rate_per_s.value,
                   predicted_at(plan, 4).measured_per_s.value_or(0));
  EXPECT_EQ(plan.current_capacity.bottleneck, plan.bounds.front().resource);
  for (const Bound& bound : plan.bounds) {
    EXPECT_NEAR(bound.rate_per_s.value * bound.utilization, plan.baseline.rate_per_s, 1e-6);
  }
}

TEST(Baseline, allows_the_threads_that_a_run_adds) {
  const SyntheticMachine machine{.cpu_s = {{Stage::load, 1e-4}, {Stage::write, 3e-4}}};
  const SyntheticRunOptions idle{.cores = 4, .command = "watch", .arrival_per_s = 3000};
  const Plan plan = single_plan({synthetic_run(machine, idle)});
  const auto write = std::ranges::find(plan.bounds, Resource::write, &Bound::resource);
  ASSERT_NE(write, plan.bounds.end());
  EXPECT_EQ(write->servers, 3);
  EXPECT_NEAR(write->utilization, 0.3, 0.01);
  EXPECT_NEAR(write->rate_per_s.value, max_auto_threads(4) / 3e-4, 100) << "not 3 / 3e-4";
  EXPECT_EQ(plan.bounds.front().resource, Resource::cores) << "threads are not the limit";
}

TEST(Baseline, has_no_more_threads_than_made_a_run_faster) {
  LoggedRun run =
      synthetic_run({.cpu_s = {{Stage::load, 1e-4}}}, {.cores = 16, .arrival_per_s = 1000});
  for (ThroughputSample& interval : run.intervals) {
    StageSample& load = interval.stages.at(0);
    load.busy_s = load.cpu_s = interval.cpu_s = load.workers * interval.interval_s;
  }
  const Plan plan = single_plan({run});
  EXPECT_EQ(plan.bounds.front().resource, Resource::load);
  EXPECT_NEAR(predicted_at(plan, 16).rate_per_s.value, 1000, 50) << "auto added none";
}

TEST(RunNoise, comes_from_runs_with_the_same_thread_settings) {
  const auto log = [](const char* id, double scale, double clock) {
    LoggedRun run =
        synthetic_run({.cpu_s = {{Stage::load, 1e-4 * scale}}},
                      {.id = id, .settings = {{"threads.load", "2"}, {"threads.write", "2"}}});
    for (ThroughputSample& interval : run.intervals) {
      for (StageSample& stage : interval.stages) stage.thread_s = 2 * interval.interval_s + clock;
    }
    return run;
  };
  EXPECT_GT(single_plan({log("a", 1, 0), log("b", 1.5, 1e-5)}).noise, 0.2);
}

TEST(PredictedRate, does_not_fall_with_more_cores) {
  SyntheticMachine machine{
      .cpu_s = {{Stage::source, 5e-5}, {Stage::load, 1e-4}, {Stage::write, 3e-4}},
      .serial_fraction = 0.1};
  std::vector<LoggedRun> runs;
  for (const int cores : {1, 2, 4}) {
    runs.push_back(synthetic_run(machine, {.id = std::to_string(cores), .cores = cores}));
    for (ThroughputSample& interval : runs.back().intervals) {
      StageSample& source = interval.stages.at(0);
      EXPECT_EQ(source.stage, Stage::source);
      source.workers = 1;
      source.busy_s = source.cpu_s = 5e-5 * double(interval.done);
    }
  }
  PlanRequest request;
  for (int n = 1; n <= 256; ++n) request.cores.push_back(n);
  const Plan plan = single_plan(runs, request);
  double before = 0;
  for (const PredictionRow& at : plan.predictions) {
    EXPECT_GE(at.rate_per_s.value, before) << at.cores;
    EXPECT_GE(at.rate_per_s.value, at.rate_per_s.low);
    before = at.rate_per_s.value;
    if (at.bottleneck == Resource::source) {
      EXPECT_NEAR(before, 20000, 200);
    }
  }
}

TEST(PredictedRate, names_a_limit_that_is_a_setting) {
  const std::map<std::string, std::string> set = {{"threads.write", "2"}};
  const SyntheticMachine machine{.cpu_s = {{Stage::load, 1e-4}, {Stage::write, 3e-4}}};
  const Plan plan = single_plan({synthetic_run(machine, {.id = "1", .cores = 1, .settings = set}),
                                 synthetic_run(machine, {.id = "2", .cores = 2, .settings = set})});
  EXPECT_THAT(to_text(plan),
              AllOf(HasSubstr("threads.write=2 was set in all runs and is a limit; try a higher"),
                    HasSubstr("  threads.write=2\n")));
}

TEST(SerialFraction, is_not_measurable_above_one) {
  SyntheticMachine worse;
  for (auto& [stage, s] : worse.cpu_s) s *= 2.5;
  const Plan plan = single_plan(
      {synthetic_run({}, {.id = "1", .cores = 1}), synthetic_run(worse, {.id = "2", .cores = 2})});
  EXPECT_FALSE(plan.scaling.measured);
  EXPECT_THAT(amdahl_sentence(plan), HasSubstr("not measurable"));
  EXPECT_THAT(gustafson_sentence(plan), HasSubstr("not measurable"));
  EXPECT_THAT(to_json(plan), HasSubstr("\"fitted_serial_fraction\":null"));
}

TEST(Plan, names_what_is_unknown) {
  const Plan plan = single_plan({synthetic_run({}, {.cores = 2})},
                                {.target_per_s = 1e300, .images = 1e300, .gpus = {2}});
  EXPECT_THAT(to_text(plan), AllOf(Not(HasSubstr("-9,")), HasSubstr("more than 1e15 machines"),
                                   HasSubstr("These runs used no GPU")));
}

}  // namespace
}  // namespace eckart::capacity::test
