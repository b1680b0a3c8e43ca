#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "capacity/plan.hpp"
#include "capacity/throughput_log_reader.hpp"
#include "synth/random.hpp"

namespace eckart::capacity::test {

/// A machine with known properties, for synthetic logs.
struct SyntheticMachine {
  std::map<Stage, double> cpu_s = {{Stage::compute, 15e-5},
                                   {Stage::load, 5e-5},
                                   {Stage::write, 3e-4}};  ///< of one image, on one core
  double serial_fraction = 0;                              ///< of Amdahl's law
  double gpu_s_per_image = 0;                              ///< of one image
  double noise = 0;                                        ///< of each interval, relative
  double run_noise = 0;
};

struct SyntheticRunOptions {
  std::string id = "a";
  int cores = 4, gpus = 0;
  double startup_s = 0.5, seconds = 10, interval_s = 1;
  std::map<std::string, std::string> settings = {{"rank", "20"}};
  std::string command = "run";
  std::uint64_t seed = 1;
  double arrival_per_s = 1e30;  ///< maximum arrival rate
};

/// Repeats the defaults, because core/default_threads.hpp is under test.
inline int threads(Stage stage, const SyntheticRunOptions& lines) {
  if (stage == Stage::load) return (lines.cores + 1) / 2;
  if (stage == Stage::write) return std::max(2, lines.cores * 3 / 4);
  return lines.gpus > 0 ? 4 * lines.gpus : lines.cores;
}

/// Returns the run as its log would contain it, by the utilization law.
inline LoggedRun synthetic_run(const SyntheticMachine& machine, const SyntheticRunOptions& lines) {
  synth::Random random(lines.seed);
  double cpu_s = 0;
  for (const auto& [stage, s] : machine.cpu_s) cpu_s += s;
  const double cost_s = cpu_s * (1 + machine.serial_fraction * (lines.cores - 1));
  double rate = std::min(lines.cores / cost_s, lines.arrival_per_s);
  if (machine.gpu_s_per_image > 0) rate = std::min(rate, lines.gpus / machine.gpu_s_per_image);
  rate *= 1 + machine.run_noise * random.normal();
  LoggedRun run{.id = lines.id,
                .time = "2026-11-22T10:00:00Z",
                .command = lines.command,
                .host = "here",
                .cpu = "a CPU",
                .backend = lines.gpus > 0 ? "cuda" : "cpu",
                .device = lines.gpus > 0 ? "a GPU" : "a CPU",
                .cores = lines.cores,
                .gpus = std::vector<std::string>(std::size_t(lines.gpus), "a GPU"),
                .settings = lines.settings,
                .startup_s = lines.startup_s};
  for (double begin = 0; begin < lines.seconds; begin += lines.interval_s) {
    const double working_s =
        lines.interval_s - std::clamp(lines.startup_s - begin, 0.0, lines.interval_s);
    ThroughputSample sample{.elapsed_s = begin + lines.interval_s, .interval_s = lines.interval_s};
    sample.done = std::int64_t(rate * working_s * (1 + machine.noise * random.normal()));
    sample.unfinished = 100;
    const double images = double(sample.done);
    sample.pixels = 65536 * sample.done;
    sample.input_bytes = 12000 * sample.done;
    sample.cpu_s = std::min(images * cost_s, lines.cores * working_s);
    sample.in_system_count = sample.done;
    sample.in_system_s = 100 / rate * images;
    for (const auto& [stage, s] : machine.cpu_s) {
      const int workers = threads(stage, lines);
      const double stage_s = images * s * cost_s / cpu_s;
      sample.stages.push_back({stage, workers, stage_s, stage_s, sample.done});
    }
    for (int gpu = 0; gpu < lines.gpus; ++gpu) {
      sample.gpus.push_back({images * machine.gpu_s_per_image / lines.gpus, lines.interval_s,
                             200 * lines.interval_s});
    }
    run.intervals.push_back(sample);
  }
  return run;
}

/// Returns the plan of logs of a single workload.
inline Plan single_plan(const std::vector<LoggedRun>& runs, const PlanRequest& request = {}) {
  const std::vector<Plan> plans = make_plans(runs, request);
  EXPECT_EQ(plans.size(), 1U);
  return plans.at(0);
}

}  // namespace eckart::capacity::test
