#include "telemetry/snapshot.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "tests/support/filled_snapshot.hpp"

namespace eckart::telemetry {
namespace {

StageStats make_stage(Stage name, double busy_s, double cpu_s, double total_s = 10) {
  StageStats row;
  row.stage = name;
  row.workers = 1;
  row.busy_s = busy_s, row.waiting_for_input_s = total_s - busy_s, row.cpu_s = cpu_s;
  return row;
}

machine::MachineUsage make_machine(int cores, double cpu_s, double gpu_busy_s = 0) {
  machine::MachineUsage machine;
  machine.cores = cores;
  machine.process.cpu_s = cpu_s;
  machine.idle_core_s = 10 * cores - cpu_s;
  machine.gpus.emplace_back().seconds = 10;
  machine.gpus[0].busy_s = machine.gpus[0].memory_busy_s = gpu_busy_s;
  return machine;
}

TEST(Bottleneck, is_the_stage_with_the_highest_busy_ratio) {
  const auto bottleneck = find_bottleneck(
      {make_stage(Stage::load, 3, 1), make_stage(Stage::write, 9.7, 8)}, make_machine(4, 8), 10);
  EXPECT_EQ(bottleneck.resource, Resource::write);
  EXPECT_NEAR(bottleneck.busy, 0.97, 1e-9);
  EXPECT_EQ(bottleneck.stage, Stage::write);
}

TEST(Bottleneck, has_the_share_of_other_programs_if_no_core_was_idle) {
  machine::MachineUsage machine = make_machine(4, 8);
  const auto other_programs = [&](double busy_s) {
    return find_bottleneck({make_stage(Stage::compute, busy_s, 8)}, machine, 10).other_programs;
  };
  machine.idle_core_s = 2;
  EXPECT_NEAR(other_programs(9.7), 0.75, 1e-9) << "30 of 40 seconds of the cores";
  EXPECT_NEAR(other_programs(1), 0.75, 1e-9) << "no stage is saturated";
  machine.idle_core_s = 10;
  EXPECT_EQ(other_programs(9.7), 0) << "cores were idle";
  machine.idle_core_s = 0;
  EXPECT_EQ(other_programs(9.7), 0) << "it is not known";
}

TEST(Bottleneck, is_the_disk_when_a_saturated_stage_waits_for_files) {
  const auto bottleneck = find_bottleneck(
      {make_stage(Stage::load, 3, 1), make_stage(Stage::write, 9.7, 1)}, make_machine(4, 8), 10);
  EXPECT_EQ(bottleneck.resource, Resource::disk);
  EXPECT_EQ(bottleneck.stage, Stage::write);
  EXPECT_EQ(short_name(Resource::disk), "disk");
  const auto on_busy_cores = find_bottleneck(
      {make_stage(Stage::load, 3, 1), make_stage(Stage::write, 9.7, 1)}, make_machine(4, 24), 10);
  EXPECT_EQ(on_busy_cores.resource, Resource::write);
  machine::MachineUsage shared = make_machine(4, 8);
  shared.idle_core_s = 2;  // another process uses the cores
  EXPECT_EQ(find_bottleneck({make_stage(Stage::write, 9.7, 1)}, shared, 10).resource,
            Resource::write);
}

TEST(Bottleneck, is_the_cpu_when_all_cores_are_busy) {
  const auto bottleneck =
      find_bottleneck({make_stage(Stage::load, 9.9, 4), make_stage(Stage::write, 10, 15)},
                      make_machine(2, 19.6), 10);
  EXPECT_EQ(bottleneck.resource, Resource::cores);
  EXPECT_NEAR(bottleneck.busy, 0.98, 1e-9);
  EXPECT_EQ(bottleneck.stage, Stage::write);
  EXPECT_NEAR(bottleneck.stage_cpu_share, 15 / 19.6, 1e-9);
}

TEST(Bottleneck, is_the_gpu_when_it_is_busier) {
  const auto bottleneck =
      find_bottleneck({make_stage(Stage::compute, 10, 4), make_stage(Stage::write, 4, 2)},
                      make_machine(2, 18.5, 9.8), 10);
  EXPECT_EQ(bottleneck.resource, Resource::gpu);
  EXPECT_NEAR(bottleneck.busy, 0.98, 1e-9);
  EXPECT_EQ(bottleneck.stage, std::nullopt);
}

TEST(Bottleneck, is_nothing_when_all_stages_wait) {
  const auto bottleneck = find_bottleneck(
      {make_stage(Stage::load, 3, 1), make_stage(Stage::write, 2, 1)}, make_machine(8, 2), 10);
  EXPECT_EQ(bottleneck.resource, std::nullopt);
  EXPECT_EQ(bottleneck.stage, Stage::load);
  EXPECT_EQ(find_bottleneck({make_stage(Stage::load, 0, 0)}, make_machine(8, 0), 10).stage,
            std::nullopt);
  EXPECT_EQ(find_bottleneck({}, machine::MachineUsage{}, 0).stage, std::nullopt);
}

Snapshot snapshot_at(double elapsed_s, std::int64_t factor) {
  Snapshot snapshot;
  snapshot.elapsed_s = snapshot.seconds = elapsed_s;
  snapshot.found = 20 * factor;
  snapshot.unfinished = 20 * factor - 12 * factor;
  snapshot.counts.done = 10 * factor, snapshot.counts.failed = 2 * factor;
  snapshot.counts.skipped = 5 * factor;
  snapshot.counts.planes = 30 * factor, snapshot.counts.outputs = 40 * factor;
  snapshot.counts.pixels = 60 * factor;
  snapshot.counts.input_bytes = 70 * factor, snapshot.counts.output_bytes = 80 * factor;
  snapshot.counts.failures[std::size_t(FailureReason::corrupt)] = 2 * factor;
  snapshot.counts.failures_by_stage[std::size_t(Stage::load)][std::size_t(FailureReason::corrupt)] =
      2 * factor;
  snapshot.counts.retries_by_stage[std::size_t(Stage::load)] = 7 * factor;
  snapshot.stages = {make_stage(Stage::load, double(factor), 0.5 * double(factor), elapsed_s)};
  snapshot.queues = {{"found", 3 * factor, 256, {}}};
  snapshot.batches = {factor, 4 * factor, 8 * factor};
  snapshot.machine = make_machine(2, double(factor), double(factor));
  return snapshot;
}

TEST(Snapshot, subtracts_counters_and_keeps_gauges_in_since) {
  const Snapshot recent = snapshot_at(9, 5).since(snapshot_at(4, 2));
  EXPECT_EQ(recent.elapsed_s, 9);
  EXPECT_EQ(recent.seconds, 5);
  EXPECT_EQ(recent.found, 60);
  EXPECT_EQ(recent.unfinished, 40) << "of now";
  EXPECT_EQ(recent.counts.done, 30);
  EXPECT_EQ(recent.counts.failed, 6);
  EXPECT_EQ(recent.counts.skipped, 15);
  EXPECT_EQ(recent.counts.planes, 90);
  EXPECT_EQ(recent.counts.outputs, 120);
  EXPECT_EQ(recent.counts.pixels, 180);
  EXPECT_EQ(recent.counts.input_bytes, 210);
  EXPECT_EQ(recent.counts.output_bytes, 240);
  EXPECT_EQ(recent.counts.failures[std::size_t(FailureReason::corrupt)], 6);
  EXPECT_EQ(recent.counts
                .failures_by_stage[std::size_t(Stage::load)][std::size_t(FailureReason::corrupt)],
            6);
  EXPECT_EQ(recent.counts.retries_by_stage[std::size_t(Stage::load)], 21);
  EXPECT_EQ(recent.stages[0].busy_s, 3);
  EXPECT_EQ(recent.stages[0].cpu_s, 1.5);
  EXPECT_EQ(recent.queues[0].images, 15) << "of now";
  EXPECT_EQ(recent.batches.planes, 12);
  EXPECT_EQ(recent.machine.process.cpu_s, 3);
  EXPECT_EQ(recent.machine.gpus[0].busy_s, 3);
  EXPECT_EQ(recent.machine.gpus[0].memory_busy_s, 3);
}

TEST(Snapshot, is_unchanged_since_an_empty_snapshot) {
  const Snapshot all = snapshot_at(9, 5).since({});
  EXPECT_EQ(all.seconds, 9);
  EXPECT_EQ(all.counts.done, 50);
  EXPECT_EQ(all.stages[0].busy_s, 5);
}

/// The clocks of its workers begin with the run, though they are not known before.
TEST(Snapshot, counts_no_time_before_it_when_the_backend_appears) {
  Snapshot before, now;
  before.elapsed_s = 3;
  before.stages.resize(1);
  now.elapsed_s = 4;
  now.stages.resize(1);
  now.stages[0].workers = 2;
  now.stages[0].busy_s = 0.5;
  now.stages[0].waiting_for_input_s = 7.5;
  const Snapshot interval = now.since(before);
  EXPECT_EQ(interval.stages[0].busy_s, 0.5);
  EXPECT_EQ(interval.stages[0].waiting_for_input_s, 1.5);
}

/// All fields that count from the start.
std::vector<double> counters_of(const Snapshot& snapshot) {
  const ImageCounts& counts = snapshot.counts;
  std::vector<double> values{snapshot.seconds,
                             double(snapshot.found),
                             double(counts.done),
                             double(counts.skipped),
                             double(counts.failed),
                             double(counts.pixels),
                             double(counts.planes),
                             double(counts.outputs),
                             double(counts.input_bytes),
                             double(counts.output_bytes),
                             double(snapshot.batches.count),
                             double(snapshot.batches.planes),
                             double(snapshot.batches.plane_capacity),
                             double(snapshot.oom_splits),
                             double(snapshot.cpu_fallback_images),
                             snapshot.machine.process.cpu_s,
                             snapshot.machine.idle_core_s};
  const auto add_all = [&](const auto& numbers) {
    for (const auto number : numbers) values.push_back(double(number));
  };
  const auto add_durations = [&](const DurationHistogram& durations) {
    add_all(std::array{double(durations.count()), 1000 * durations.sum_s(),
                       double(durations.count_up_to(0.0015))});
  };
  add_all(counts.failures);
  for (const auto& reasons : counts.failures_by_stage) add_all(reasons);
  add_all(counts.retries_by_stage);
  for (const StageStats& stage : snapshot.stages) {
    add_all(std::array{stage.busy_s, stage.waiting_for_input_s, stage.blocked_s, stage.cpu_s,
                       double(stage.images)});
    add_durations(stage.service);
  }
  for (const QueueStats& queue : snapshot.queues) add_durations(queue.wait);
  add_durations(snapshot.end_to_end);
  for (const machine::GpuUsage& gpu : snapshot.machine.gpus) {
    add_all(std::array{gpu.seconds, gpu.busy_s, gpu.memory_busy_s, gpu.energy_j});
    add_all(gpu.throttled_samples);
  }
  return values;
}

TEST(Snapshot, subtracts_every_counter_in_since) {
  const Snapshot recent = test::filled_snapshot(5).since(test::filled_snapshot(2));
  EXPECT_THAT(counters_of(recent),
              testing::Pointwise(testing::DoubleNear(1e-6), counters_of(test::filled_snapshot(3))));
  EXPECT_EQ(recent.elapsed_s, 50);
  EXPECT_EQ(recent.unfinished, 510);
  EXPECT_EQ(recent.stages[0].workers, 2);
  EXPECT_EQ(recent.queues[1].images, 28);
  EXPECT_EQ(recent.queues[1].capacity, 128);
  EXPECT_EQ(recent.machine.process.threads, 37);
  EXPECT_EQ(recent.machine.gpus[0].temperature_c, 55);
}

TEST(Bottleneck, is_the_busiest_gpu_only_if_it_is_busier_than_the_cores) {
  machine::MachineUsage machine = make_machine(2, 19.8, 9.9);
  machine.gpus.emplace_back().seconds = 10;
  const auto resource_of = [&] {
    return find_bottleneck({make_stage(Stage::write, 9, 9)}, machine, 10).resource;
  };
  EXPECT_EQ(resource_of(), Resource::gpu);
  machine.process.cpu_s = 19.9;
  EXPECT_EQ(resource_of(), Resource::cores);
  machine.process.cpu_s = 30;  // the clocks differ slightly
  EXPECT_EQ(find_bottleneck({make_stage(Stage::write, 9, 9)}, machine, 10).busy, 1);
}

/// A stage that is busy half of the time limits the rate.
TEST(Bottleneck, is_the_disk_only_for_stages_that_use_files) {
  const auto resource_of = [](Stage stage, double busy_s, double cpu_s) {
    return find_bottleneck({make_stage(stage, busy_s, cpu_s)}, make_machine(4, 4), 10).resource;
  };
  EXPECT_EQ(resource_of(Stage::write, 5, 1), Resource::disk);
  EXPECT_EQ(resource_of(Stage::write, 4.9, 1), std::nullopt);
  EXPECT_EQ(resource_of(Stage::load, 9, 1), Resource::disk);
  EXPECT_EQ(resource_of(Stage::compute, 9, 1), Resource::compute);
  EXPECT_EQ(resource_of(Stage::write, 9, 0), Resource::write) << "its CPU time is not known";
}

TEST(Bottleneck, tells_the_threads_of_a_stage_unless_they_are_adapted) {
  StageStats stage = make_stage(Stage::load, 9, 8);
  stage.workers = 3;
  EXPECT_EQ(find_bottleneck({stage}, make_machine(8, 9), 10).stage_workers, 3);
  stage.is_adaptive = true;
  EXPECT_EQ(find_bottleneck({stage}, make_machine(8, 9), 10).stage_workers, 0);
}

}  // namespace
}  // namespace eckart::telemetry
