#include "capacity/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "tests/unit/capacity/synthetic_log.hpp"

namespace eckart::capacity::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

double rate_at(const Plan& plan, int cores, int gpus = 0) {
  for (const PredictionRow& at : plan.predictions) {
    if (at.cores == cores && at.gpus == gpus) return at.rate_per_s.value;
  }
  ADD_FAILURE() << "nothing is predicted for " << cores << " cores and " << gpus << " GPUs";
  return 0;
}

TEST(RunMeasurement, excludes_startup_and_end_from_the_rate) {
  LoggedRun run = synthetic_run({.cpu_s = {{Stage::write, 1e-3}}}, {.cores = 4, .startup_s = 1.5});
  run.intervals.back().done = 5;  // the remaining images
  const RunMeasurement measured = measure(run);
  EXPECT_NEAR(measured.rate_per_s, 4000, 1);
  EXPECT_NEAR(measured.cpu_s_per_image, 1e-3, 1e-6);
  EXPECT_EQ(measured.saturated, Resource::cores);
  EXPECT_EQ(measured.intervals, 7U);
}

TEST(RunMeasurement, excludes_the_startup_of_a_short_run) {
  const LoggedRun run = synthetic_run({.cpu_s = {{Stage::write, 1e-3}}},
                                      {.cores = 4, .startup_s = 0.5, .seconds = 2});
  const RunMeasurement measured = measure(run);
  EXPECT_EQ(measured.intervals, 0U);
  EXPECT_NEAR(measured.rate_per_s, 4000, 1);
}

TEST(RunMeasurement, counts_failed_but_not_skipped_images) {
  LoggedRun run = synthetic_run({}, {});
  const RunMeasurement before = measure(run);
  for (ThroughputSample& interval : run.intervals) {
    interval.failed = interval.done / 4;
    interval.done -= interval.failed;
    interval.skipped = 100000;
  }
  EXPECT_DOUBLE_EQ(measure(run).rate_per_s, before.rate_per_s);
  EXPECT_EQ(measure(run).images, before.images);
}

TEST(RunMeasurement, excludes_skipped_images_of_a_resumed_run) {
  LoggedRun run = synthetic_run({}, {.seconds = 20});
  const double rate = measure(run).rate_per_s;
  for (std::size_t i = 1; i < 8; ++i)
    run.intervals[i] = {.elapsed_s = double(i + 1), .interval_s = 1, .skipped = 100'000};
  EXPECT_NEAR(measure(run).rate_per_s, rate, 0.01 * rate);
}

TEST(RunMeasurement, excludes_idle_intervals_of_a_service) {
  LoggedRun run = synthetic_run({}, {.seconds = 20, .command = "watch", .arrival_per_s = 500});
  for (std::size_t i = 6; i < 14; ++i) run.intervals[i].done = 0;
  EXPECT_NEAR(measure(run).rate_per_s, 500, 1);
  run.command = "run";
  EXPECT_LT(measure(run).rate_per_s, 400) << "there it is the pipeline that stood still";
}

TEST(RunMeasurement, agrees_with_littles_law) {
  const RunMeasurement measured = measure(synthetic_run({}, {}));
  ASSERT_TRUE(measured.littles_law);
  EXPECT_NEAR(measured.littles_law->expected_unfinished(), 100, 1);
  EXPECT_NEAR(measured.littles_law->mean_unfinished, 100, 1e-9);
}

/// A run over files of the same size, of which every second does not decode.
LoggedRun run_with_failures(const SyntheticRunOptions& lines) {
  LoggedRun run = synthetic_run({}, lines);
  for (ThroughputSample& interval : run.intervals) {
    interval.failed = interval.done / 2;
    interval.done -= interval.failed;
    interval.pixels /= 2;
    interval.in_system_s /= 2;
    interval.in_system_count /= 2;
  }
  return run;
}

TEST(RunMeasurement, agrees_with_littles_law_when_images_fail) {
  const RunMeasurement measured = measure(run_with_failures({}));
  ASSERT_TRUE(measured.littles_law);
  EXPECT_NEAR(measured.littles_law->expected_unfinished(), 100, 1);
}

TEST(RunMeasurement, has_service_demands_independent_of_load) {
  const SyntheticMachine machine{.cpu_s = {{Stage::load, 2e-4}, {Stage::write, 8e-4}},
                                 .gpu_s_per_image = 1e-4};
  const RunMeasurement idle = measure(
      synthetic_run(machine, {.cores = 4, .gpus = 1, .command = "watch", .arrival_per_s = 400}));
  EXPECT_NEAR(idle.rate_per_s, 400, 1);
  EXPECT_NEAR(idle.cpu_s_per_image, 1e-3, 1e-6);
  EXPECT_NEAR(idle.gpu_s_per_image.value_or(0), 1e-4, 1e-9);
  EXPECT_EQ(idle.saturated, std::nullopt);
  EXPECT_NEAR(idle.core_s_per_image(), 1e-3, 1e-6) << "of the cores that it kept busy";
}

TEST(RunMeasurement, has_the_mean_number_of_threads_if_a_run_changed_it) {
  LoggedRun run = synthetic_run({}, {});
  run.total.reset();
  for (std::size_t i = 0; i < run.intervals.size(); ++i) {
    for (StageSample& stage : run.intervals[i].stages) {
      stage.workers = i < 5 ? 4 : 8;
      stage.thread_s = stage.workers * run.intervals[i].interval_s;
      stage.busy_s = stage.thread_s / 2;
    }
  }
  for (const StageUtilization& stage : measure(run).stages) {
    EXPECT_NEAR(stage.workers, 6, 0.5);
    EXPECT_NEAR(stage.utilization, 0.5, 1e-9);
  }
}

TEST(Plan, finds_a_core_bottleneck_and_the_serial_fraction) {
  const SyntheticMachine machine{.serial_fraction = 0.04};
  std::vector<LoggedRun> runs;
  for (const int cores : {1, 2, 4, 8}) {
    runs.push_back(synthetic_run(machine, {.id = std::to_string(cores), .cores = cores}));
  }
  const Plan plan = single_plan(runs);
  EXPECT_EQ(plan.baseline.saturated, Resource::cores);
  EXPECT_NEAR(plan.scaling.measured->ratio.value, 0.04, 0.001);
  const double truth = 16 / (5e-4 * (1 + 15 * 0.04));
  EXPECT_NEAR(rate_at(plan, 16) / truth, 1, 0.1);
  EXPECT_NEAR(rate_at(plan, 4), 4 / (5e-4 * (1 + 3 * 0.04)), 100);
  EXPECT_GT(plan.gain_per_s(plan.one_more_core), 0);
}

TEST(Plan, is_linear_and_called_an_upper_bound_for_one_run) {
  const Plan plan = single_plan({synthetic_run({}, {.cores = 4})});
  EXPECT_FALSE(plan.scaling.is_known);
  EXPECT_NEAR(rate_at(plan, 16) / rate_at(plan, 4), 4, 1e-9);
  EXPECT_THAT(to_text(plan), HasSubstr("upper bounds"));
}

/// Predictions never fall with more cores, but those of another number of GPUs begin anew.
TEST(Plan, predicts_few_cores_as_the_bottleneck_of_more_gpus) {
  const SyntheticMachine machine{.cpu_s = {{Stage::load, 1e-4}, {Stage::write, 3e-4}},
                                 .gpu_s_per_image = 2e-4};
  const Plan plan = single_plan({synthetic_run(machine, {.cores = 8, .gpus = 1})}, {.gpus = {2}});
  EXPECT_GT(rate_at(plan, 64, 1), 1.5 * rate_at(plan, 1, 1));
  EXPECT_NEAR(rate_at(plan, 1, 2), rate_at(plan, 1, 1), 0.01 * rate_at(plan, 1, 1));
}

TEST(Plan, finds_a_gpu_bottleneck_and_the_gain_of_another) {
  const SyntheticMachine machine{.cpu_s = {{Stage::load, 1e-4}, {Stage::write, 3e-4}},
                                 .gpu_s_per_image = 2e-4};
  const Plan plan =
      single_plan({synthetic_run(machine, {.cores = 8, .gpus = 1})}, {.target_per_s = 9000});
  EXPECT_EQ(plan.baseline.saturated, Resource::gpu);
  EXPECT_NEAR(plan.current_capacity.rate_per_s.value, 5000, 10);
  EXPECT_NEAR(plan.gain_per_s(plan.one_more_core), 0, 1);
  EXPECT_NEAR(plan.gain_per_s(plan.one_more_gpu.value()), 5000, 50);
  ASSERT_EQ(plan.target->requirements.size(), 2U);
  EXPECT_FALSE(plan.target->requirements[0].cores);
  EXPECT_EQ(plan.target->requirements[0].bottleneck, Resource::gpu);
  EXPECT_EQ(plan.target->requirements[1].gpus, 2);
  EXPECT_EQ(plan.target->requirements[1].cores, 4);
  EXPECT_THAT(
      to_text(plan),
      AllOf(HasSubstr("No number of cores is enough with 1 GPU: the limit would be the GPU."),
            HasSubstr("One machine with 2 GPUs needs 4 cores")));
}

TEST(Plan, keeps_threads_that_were_set_and_lets_others_grow) {
  const SyntheticMachine machine{.cpu_s = {{Stage::load, 1e-4}, {Stage::write, 3e-4}}};
  const std::map<std::string, std::string> set = {{"threads.write", "6"}};
  const std::vector<LoggedRun> fixed = {
      synthetic_run(machine, {.id = "2", .cores = 2, .settings = set}),
      synthetic_run(machine, {.id = "4", .cores = 4, .settings = set})};
  const Plan plan = single_plan(fixed);
  EXPECT_LE(rate_at(plan, 64), 6 / 3e-4);
  EXPECT_EQ(plan.predictions.back().bottleneck, Resource::write);
  std::vector<LoggedRun> varied = fixed;
  varied[0].settings["threads.write"] = "2";
  EXPECT_GT(rate_at(single_plan(varied), 64), 2 * rate_at(plan, 64));
}

TEST(Plan, claims_no_serial_fraction_from_one_number_of_cores) {
  std::vector<LoggedRun> runs;
  for (const int used : {2, 4}) {
    runs.push_back(
        synthetic_run({.serial_fraction = 0.1}, {.id = std::to_string(used), .cores = used}));
    runs.back().cores = 16;
    runs.back().settings["threads.write"] = std::to_string(used);
  }
  const Plan plan = single_plan(runs);
  EXPECT_FALSE(plan.scaling.is_known);
  EXPECT_FALSE(plan.scaling.measured);
  EXPECT_THAT(to_text(plan), HasSubstr("because all runs were on 16\n    cores"));
}

TEST(Plan, does_not_take_waiting_for_a_core_for_a_slow_disk) {
  LoggedRun crowded = synthetic_run({}, {.cores = 4});
  for (ThroughputSample& interval : crowded.intervals) {
    for (StageSample& stage : interval.stages) stage.busy_s = stage.workers * interval.interval_s;
  }
  EXPECT_EQ(measure(crowded).saturated, Resource::cores);
  EXPECT_NEAR(rate_at(single_plan({crowded}), 16) / rate_at(single_plan({crowded}), 4), 4, 0.3);

  LoggedRun waiting = synthetic_run({}, {.cores = 4, .arrival_per_s = 1000});
  for (ThroughputSample& interval : waiting.intervals)
    interval.stages.at(0).busy_s = interval.stages.at(0).workers * interval.interval_s;  // load
  const Plan plan = single_plan({waiting});
  EXPECT_EQ(plan.baseline.saturated, Resource::disk);
  EXPECT_NEAR(plan.current_capacity.rate_per_s.value, 1000, 5)
      << "a thread that waits for the disk";
}

TEST(Plan, groups_runs_by_workload) {
  std::vector<LoggedRun> runs = {synthetic_run({}, {.id = "a", .cores = 2}),
                                 synthetic_run({}, {.id = "b", .cores = 4}),
                                 synthetic_run({}, {.id = "c", .settings = {{"rank", "50"}}})};
  runs.push_back(synthetic_run({}, {.id = "d"}));
  for (ThroughputSample& interval : runs.back().intervals) interval.pixels *= 10;
  runs[0].settings["telemetry.throughput_log"] = "x.log";
  runs[0].settings["cpu.lanes"] = "2";
  const std::vector<Plan> plans = make_plans(runs, {});
  ASSERT_EQ(plans.size(), 3U);
  const auto most = [](const Plan& plan) { return plan.runs.size(); };
  EXPECT_EQ(std::ranges::max(plans, {}, most).runs.size(), 2U);
}

TEST(Plan, keeps_a_run_with_failures_in_its_workload) {
  const Plan plan = single_plan(
      {synthetic_run({}, {.id = "a", .cores = 2}), run_with_failures({.id = "b", .cores = 4})});
  EXPECT_NEAR(plan.input_bytes_per_image, 12000, 1);
  EXPECT_NEAR(plan.pixels_per_image, 65536, 70);
}

/// A run with a serial second, in which 100 images are done. Then each core processes 1000 images
/// in 10 s.
LoggedRun scaled_run(int cores, double seconds) {
  LoggedRun run{.id = std::to_string(cores) + "-" + std::to_string(seconds),
                .command = "run",
                .cores = cores};
  ThroughputSample total{.elapsed_s = 1 + seconds, .interval_s = 1 + seconds};
  total.done = std::int64_t(100 * cores * seconds) + 100;
  total.cpu_s = seconds * cores + 1;
  run.total = total;
  return run;
}

TEST(Plan, fits_gustafsons_law_to_runs_with_scaled_work) {
  std::vector<LoggedRun> runs;
  for (const int cores : {1, 2, 4, 8}) {
    runs.push_back(scaled_run(cores, 10));
    // Constant work, as in Amdahl's law.
    if (cores < 8) runs.push_back(scaled_run(cores, 80.0 / cores));
  }
  const Plan plan = single_plan(runs);
  EXPECT_EQ(plan.scaling.gustafson_runs, 4);
  EXPECT_NEAR(plan.scaling.gustafson_serial_fraction.value, 1.0 / 11, 1e-6);
  for (const Speedup& speedup : plan.scaling.speedups) {
    if (speedup.cores == 8) {
      EXPECT_NEAR(speedup.gustafson, 8 - 7.0 / 11, 1e-6);
    }
  }
}

TEST(Plan, derives_gustafsons_law_without_scaled_runs) {
  std::vector<LoggedRun> runs;
  for (const int cores : {2, 4}) {
    LoggedRun run =
        synthetic_run({.serial_fraction = 0.05}, {.id = std::to_string(cores), .cores = cores});
    while (cores == 4 && run.intervals.size() > 5) run.intervals.pop_back();
    runs.push_back(run);
  }
  const ScalingAnalysis scaling = single_plan(runs).scaling;
  EXPECT_EQ(scaling.gustafson_runs, 0);
  for (const Speedup& speedup : scaling.speedups) {
    if (speedup.cores == 4) {
      EXPECT_NEAR(speedup.gustafson, speedup.amdahl.value, 1e-9);
    }
  }
}

TEST(Plan, computes_the_requirements_of_a_target_and_its_duration) {
  const Plan plan =
      single_plan({synthetic_run({}, {.cores = 4})}, {.target_per_s = 16000, .images = 8e6});
  EXPECT_NEAR(plan.images_duration_s.value_or(0), 1000, 1);
  ASSERT_TRUE(plan.target);
  EXPECT_NEAR(plan.target->rate_per_s, 16000, 1e-6);
  EXPECT_NEAR(plan.target->headroom, -0.5, 0.001);
  EXPECT_NEAR(plan.target->requirements.at(0).cores.value_or(0), 8, 1);
  EXPECT_GE(plan.target->requirements.at(0).conservative_cores.value_or(0), 9)
      << "the interval counts";
}

TEST(Plan, excludes_held_out_runs_from_the_fit) {
  const LoggedRun at_1 = synthetic_run({}, {.id = "a", .cores = 1});
  const LoggedRun at_2 = synthetic_run({}, {.id = "b", .cores = 2});
  const LoggedRun at_8 =
      synthetic_run({.serial_fraction = 0.2}, {.id = "c", .cores = 8});  // much slower
  const Plan alone = single_plan({at_1, at_2});
  const Plan plan = single_plan({at_8, at_2, at_1}, {.fit_cores = {1, 2}});
  EXPECT_EQ(plan.runs.size(), 2U);
  EXPECT_EQ(plan.held_out_runs.size(), 1U);
  EXPECT_EQ(plan.cores, 2);
  for (const int cores : {1, 2, 8, 64}) EXPECT_EQ(rate_at(plan, cores), rate_at(alone, cores));
  const auto there = std::ranges::find(plan.predictions, 8, &PredictionRow::cores);
  EXPECT_NEAR(there->measured_per_s.value_or(0), measure(at_8).rate_per_s, 1e-6);
  ASSERT_EQ(plan.contradictions.size(), 1U);
  EXPECT_EQ(plan.contradictions[0].cores, 8);
  EXPECT_TRUE(plan.contradictions[0].is_held_out);
  EXPECT_THROW(make_plans({at_8}, {.fit_cores = {1, 2}}), std::invalid_argument);
}

TEST(Plan, shows_the_slowest_and_the_fastest_run_that_contradict_a_prediction) {
  const LoggedRun slow = synthetic_run({.serial_fraction = 0.23}, {.id = "c", .cores = 8});
  const LoggedRun fast = synthetic_run({.serial_fraction = 0.2}, {.id = "d", .cores = 8});
  const Plan plan = single_plan({synthetic_run({}, {.id = "a", .cores = 1}),
                                 synthetic_run({}, {.id = "b", .cores = 2}), slow, fast},
                                {.fit_cores = {1, 2}});
  ASSERT_EQ(plan.contradictions.size(), 1U);
  EXPECT_NEAR(plan.contradictions[0].low_per_s, measure(slow).rate_per_s, 1e-6);
  EXPECT_NEAR(plan.contradictions[0].high_per_s, measure(fast).rate_per_s, 1e-6);
  EXPECT_THAT(to_text(plan), HasSubstr("but 6,130–6,666 images/s were"));
}

TEST(Plan, has_headroom_at_peak_and_images_per_joule) {
  LoggedRun run = synthetic_run({.gpu_s_per_image = 1e-5},
                                {.cores = 4, .gpus = 1, .command = "watch", .arrival_per_s = 2000});
  ThroughputSample& busiest = run.intervals.at(5);
  busiest.done *= 2;
  busiest.cpu_s *= 2;
  const Plan plan = single_plan({run});
  EXPECT_NEAR(plan.peak_per_s, 4000, 5);
  EXPECT_NEAR(plan.headroom(), 1, 0.02) << "8,000 images/s are what 4 cores do";
  EXPECT_NEAR(plan.baseline.joules_per_image.value_or(0), 200 / 2250.0, 0.001);
}

}  // namespace
}  // namespace eckart::capacity::test
