// What is measured of a run, computed by hand.
#include "capacity/run_measurement.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace eckart::capacity {
namespace {

/// An interval of 2 s on 4 cores and 2 GPUs.
ThroughputSample interval(double elapsed_s, std::int64_t done) {
  return {.elapsed_s = elapsed_s,
          .interval_s = 2,
          .done = done,
          .unfinished = 30,
          .cpu_s = 3.2,
          .in_system_s = 0.5 * double(done),
          .in_system_count = done,
          .stages = {{.stage = Stage::load, .workers = 3, .busy_s = 4.5, .cpu_s = 1.5},
                     {.stage = Stage::compute, .workers = 2, .busy_s = 1.2, .cpu_s = 1}},
          .gpus = {{.busy_s = 0.8, .observed_s = 2, .energy_j = 100},
                   {.busy_s = 0.4, .observed_s = 2, .energy_j = 60}}};
}

/// The steady intervals have 100 and 60 images.
LoggedRun logged_run() {
  LoggedRun run{.id = "a",
                .command = "run",
                .backend = "cuda",
                .cores = 4,
                .gpus = {"G", "G"},
                .settings = {{"rank", "5"}, {"threads.load", "3"}, {"cpu.lanes", "2"}},
                .startup_s = 1};
  run.intervals = {interval(2, 10), interval(4, 100), interval(6, 60), interval(8, 20)};
  return run;
}

TEST(RunMeasurement, follows_from_the_steady_intervals) {
  const RunMeasurement run = measure(logged_run());
  EXPECT_EQ(run.run, "a");
  EXPECT_EQ(run.cores, 4);
  EXPECT_EQ(run.gpus, 2);
  EXPECT_EQ(run.images, 190);
  EXPECT_DOUBLE_EQ(run.elapsed_s, 8);
  EXPECT_EQ(run.intervals, 2U);
  EXPECT_DOUBLE_EQ(run.rate_per_s, 160 / 4.0);
  EXPECT_DOUBLE_EQ(run.peak_per_s, 50);
  EXPECT_DOUBLE_EQ(run.rate_standard_error, std::sqrt(200 / 1.0 / 2) / 40);
  EXPECT_DOUBLE_EQ(run.core_utilization, 6.4 / (4 * 4));
  EXPECT_DOUBLE_EQ(run.cpu_s_per_image, 6.4 / 160);
  EXPECT_DOUBLE_EQ(run.gpu_utilization, (0.4 + 0.2) / 2);
  EXPECT_DOUBLE_EQ(run.gpu_s_per_image.value_or(0), 2.4 / 160);
  EXPECT_DOUBLE_EQ(run.joules_per_image.value_or(0), 320 / 160.0);
  ASSERT_EQ(run.stages.size(), 2U);
  EXPECT_DOUBLE_EQ(run.stages[0].workers, 3);
  EXPECT_DOUBLE_EQ(run.stages[0].utilization, 9.0 / 12);
  EXPECT_DOUBLE_EQ(run.stages[0].cpu_utilization, 3.0 / 12);
  ASSERT_TRUE(run.littles_law);
  EXPECT_DOUBLE_EQ(run.littles_law->rate_per_s, 40);
  EXPECT_DOUBLE_EQ(run.littles_law->mean_in_system_s, 0.5);
  EXPECT_DOUBLE_EQ(run.littles_law->expected_unfinished(), 20);
  EXPECT_DOUBLE_EQ(run.littles_law->mean_unfinished, 30);
  EXPECT_EQ(run.saturated, Resource::disk) << "load threads wait for most of their time";
  EXPECT_FALSE(run.is_service);
  EXPECT_EQ(run.thread_settings, (std::vector<std::string>{"cpu.lanes=2", "threads.load=3"}));
  EXPECT_DOUBLE_EQ(run.cpu_contention_ratio, 1) << "lanes of a GPU wait for it";
}

TEST(RunMeasurement, has_the_energy_only_if_every_gpu_tells_it) {
  LoggedRun run = logged_run();
  for (ThroughputSample& sample : run.intervals) sample.gpus[1].energy_j.reset();
  EXPECT_FALSE(measure(run).joules_per_image);
}

TEST(RunMeasurement, shows_by_the_lanes_of_the_cpu_that_other_programs_used_the_cores) {
  LoggedRun run = logged_run();
  run.backend = "cpu";
  EXPECT_DOUBLE_EQ(measure(run).cpu_contention_ratio, 1.2);
  for (ThroughputSample& sample : run.intervals) sample.stages[1].busy_s = 0.5;
  EXPECT_DOUBLE_EQ(measure(run).cpu_contention_ratio, 1);
  RunMeasurement measured{.core_utilization = 0.7, .cpu_contention_ratio = 1.51};
  EXPECT_TRUE(measured.has_cpu_contention());
  measured.cpu_contention_ratio = 1.5;
  EXPECT_FALSE(measured.has_cpu_contention());
  measured = {.core_utilization = 0.71, .cpu_contention_ratio = 3};
  EXPECT_FALSE(measured.has_cpu_contention()) << "the run itself used the cores";
}

TEST(RunMeasurement, takes_the_busiest_saturated_resource) {
  const auto saturated = [](double cores, double gpu, double load, double load_cpu, double compute,
                            const std::string& command = "run") {
    LoggedRun run = logged_run();
    run.command = command;
    for (ThroughputSample& sample : run.intervals) {
      sample.cpu_s = cores * 8;
      for (GpuSample& each : sample.gpus) each.busy_s = 2 * gpu;
      sample.stages[0].busy_s = 6 * load;
      sample.stages[0].cpu_s = 6 * load_cpu;
      sample.stages[1].busy_s = sample.stages[1].cpu_s = 4 * compute;
    }
    return measure(run).saturated;
  };
  EXPECT_EQ(saturated(0.91, 0.95, 0.95, 0.95, 0.95), Resource::cores);
  EXPECT_EQ(saturated(0.5, 0.91, 0.95, 0.95, 0.95), Resource::gpu);
  EXPECT_EQ(saturated(0.5, 0.89, 0.91, 0.91, 0.95), Resource::compute);
  EXPECT_EQ(saturated(0.5, 0.5, 0.95, 0.95, 0.91), Resource::load);
  EXPECT_EQ(saturated(0.5, 0.5, 0.89, 0.89, 0.89), std::nullopt);
  EXPECT_EQ(saturated(0.5, 0.5, 0.51, 0.1, 0.2), Resource::disk);
  EXPECT_EQ(saturated(0.5, 0.5, 0.49, 0.1, 0.2), std::nullopt);
  EXPECT_EQ(saturated(0.5, 0.5, 0.51, 0.26, 0.2), std::nullopt) << "it computes more than it waits";
  EXPECT_EQ(saturated(0.5, 0.5, 0.8, 0.1, 0.2, "watch"), std::nullopt) << "it had no more to do";
  EXPECT_EQ(saturated(0.5, 0.5, 0.91, 0.1, 0.2, "watch"), Resource::disk);
}

TEST(RunMeasurement, has_no_peak_of_an_interval_that_is_cut) {
  LoggedRun run = logged_run();
  run.intervals.push_back({.elapsed_s = 8.9, .interval_s = 0.9, .done = 90});
  EXPECT_DOUBLE_EQ(measure(run).peak_per_s, 50);
  run.intervals.back() = {.elapsed_s = 9, .interval_s = 1, .done = 90};
  EXPECT_DOUBLE_EQ(measure(run).peak_per_s, 90) << "half as long is enough";
}

TEST(RunMeasurement, needs_steady_intervals_with_most_of_the_images) {
  LoggedRun run = logged_run();
  run.intervals[3].done = 151;  // of 321 images, 160 are in steady intervals
  EXPECT_EQ(measure(run).intervals, 0U);
  EXPECT_DOUBLE_EQ(measure(run).rate_per_s, 321 / 7.0) << "without the startup";
  run.intervals[3].done = 150;
  EXPECT_EQ(measure(run).intervals, 2U);
  run.startup_s = 2.1;  // within the second interval
  EXPECT_EQ(measure(run).intervals, 0U) << "one is too few";
}

TEST(RunMeasurement, averages_runs_on_one_machine) {
  RunMeasurement a{.run = "a",
                   .cores = 4,
                   .gpus = 1,
                   .images = 5,
                   .rate_per_s = 100,
                   .rate_standard_error = 0.1,
                   .peak_per_s = 130,
                   .core_utilization = 0.5,
                   .gpu_utilization = 0.2,
                   .stages = {{Stage::load, 2, 0.4, 0.3}, {Stage::write, 3, 0.6, 0.5}},
                   .cpu_contention_ratio = 1.2};
  RunMeasurement b = a;
  b.run = "b";
  b.rate_per_s = 300;
  b.rate_standard_error = 0.3;
  b.peak_per_s = 120;
  b.core_utilization = 0.7;
  b.gpu_utilization = 0.4;
  b.stages = {{Stage::load, 4, 0.8, 0.5}, {Stage::write, 3, 0.8, 0.7}};
  b.cpu_contention_ratio = 1.4;
  const RunMeasurement mean = average_runs({a, b});
  EXPECT_EQ(mean.run, "b");
  EXPECT_DOUBLE_EQ(mean.rate_per_s, 200);
  EXPECT_DOUBLE_EQ(mean.rate_standard_error, 0.2);
  EXPECT_DOUBLE_EQ(mean.peak_per_s, 130);
  EXPECT_DOUBLE_EQ(mean.core_utilization, 0.6);
  EXPECT_DOUBLE_EQ(mean.gpu_utilization, 0.3);
  EXPECT_DOUBLE_EQ(mean.cpu_contention_ratio, 1.3);
  EXPECT_DOUBLE_EQ(mean.cpu_s_per_image, 0.6 * 4 / 200);
  EXPECT_DOUBLE_EQ(mean.gpu_s_per_image.value_or(0), 0.3 / 200);
  EXPECT_DOUBLE_EQ(mean.stages[0].utilization, 0.6);
  EXPECT_DOUBLE_EQ(mean.stages[0].cpu_utilization, 0.4);
  EXPECT_DOUBLE_EQ(mean.stages[1].utilization, 0.7);
  EXPECT_DOUBLE_EQ(mean.stages[1].cpu_utilization, 0.6);
  EXPECT_EQ(mean.saturated, std::nullopt);
}

TEST(RunMeasurement, is_comparable_on_equal_hardware_and_if_steady) {
  std::vector<RunMeasurement> runs = {{.run = "a", .cores = 4, .gpus = 1},
                                      {.run = "b", .cores = 4, .gpus = 0},
                                      {.run = "c", .cores = 2, .gpus = 1},
                                      {.run = "d", .cores = 4, .gpus = 1}};
  const auto names = [&] {
    std::string text;
    for (const RunMeasurement& run : comparable_runs(runs, 4, 1)) text += run.run;
    return text;
  };
  EXPECT_EQ(names(), "ad");
  runs[3].intervals = 1;
  EXPECT_EQ(names(), "d");
}

TEST(ThroughputSample, adds_up_everything_but_the_state_at_its_end) {
  ThroughputSample a = interval(2, 10), b = interval(4, 100);
  a.failed = 1, a.skipped = 2, a.unfinished = 3, a.pixels = 4, a.input_bytes = 5;
  a.output_bytes = 6, a.stages[0].images = 7, a.stages[0].thread_s = 8;
  b.failed = 10, b.skipped = 20, b.unfinished = 30, b.pixels = 40, b.input_bytes = 50;
  b.output_bytes = 60, b.stages[0].images = 70, b.stages[0].thread_s = 80, b.stages[0].workers = 9;
  b.gpus[1].energy_j.reset();
  const ThroughputSample both = sum(a, b);
  EXPECT_DOUBLE_EQ(both.elapsed_s, 4);
  EXPECT_DOUBLE_EQ(both.interval_s, 4);
  EXPECT_EQ(both.done, 110);
  EXPECT_EQ(both.failed, 11);
  EXPECT_EQ(both.skipped, 22);
  EXPECT_EQ(both.unfinished, 30);
  EXPECT_EQ(both.pixels, 44);
  EXPECT_EQ(both.input_bytes, 55);
  EXPECT_EQ(both.output_bytes, 66);
  EXPECT_DOUBLE_EQ(both.cpu_s, 6.4);
  EXPECT_DOUBLE_EQ(both.in_system_s, 55);
  EXPECT_EQ(both.in_system_count, 110);
  EXPECT_EQ(both.stages[0].workers, 9);
  EXPECT_EQ(both.stages[0].images, 77);
  EXPECT_DOUBLE_EQ(both.stages[0].thread_s, 88);
  EXPECT_DOUBLE_EQ(both.stages[0].busy_s, 9);
  EXPECT_DOUBLE_EQ(both.stages[1].cpu_s, 2);
  EXPECT_DOUBLE_EQ(both.gpus[0].busy_s, 1.6);
  EXPECT_DOUBLE_EQ(both.gpus[0].observed_s, 4);
  EXPECT_DOUBLE_EQ(both.gpus[0].energy_j.value_or(0), 200);
  EXPECT_DOUBLE_EQ(both.gpus[1].energy_j.value_or(0), 60);
  ThroughputSample without = b;
  without.stages.clear(), without.gpus.clear();
  EXPECT_EQ(sum(a, without).stages.size(), 2U) << "of an interval without work";
  EXPECT_EQ(sum(a, without).gpus.size(), 2U);
}

}  // namespace
}  // namespace eckart::capacity
