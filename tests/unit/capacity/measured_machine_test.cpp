// Runs that were measured on a machine with 16 cores and an H200; taskset restricted some to fewer
// cores. They had 5 load threads, 12 write threads and, on the CPU, 16 lanes. The tests check how
// well runs on few cores predict the rates on more cores.
#include <gtest/gtest.h>

#include "capacity/plan.hpp"

namespace eckart::capacity {
namespace {

struct WallTimeRun {
  int cores;
  double wall_s, cpu_s;
};
struct MeasuredSeries {
  const char* backend;
  int images;
  double startup_s, write_share;  ///< share of the CPU time
  std::vector<WallTimeRun> runs;
};
const MeasuredSeries kSlices = {"cuda",
                                26880,
                                0.4,
                                0.6,
                                {{1, 18.39, 18.19},
                                 {2, 8.70, 17.04},
                                 {2, 9.13, 17.81},
                                 {4, 5.18, 19.60},
                                 {4, 4.72, 17.93},
                                 {8, 2.95, 19.77},
                                 {16, 1.88, 21.03}}};
const MeasuredSeries kPhotographs = {"cuda",
                                     480,
                                     0.4,
                                     0.8,
                                     {{1, 18.10, 18.20},
                                      {2, 8.97, 17.92},
                                      {2, 8.85, 17.72},
                                      {4, 4.71, 18.42},
                                      {4, 4.52, 17.50},
                                      {8, 2.70, 18.70}}};
const MeasuredSeries kPhotographsOnCpu = {
    "cpu",
    480,
    0.05,
    0.4,
    {{2, 18.41, 36.84}, {4, 9.33, 37.28}, {8, 4.83, 38.55}, {16, 2.67, 41.78}}};

LoggedRun make_run(const MeasuredSeries& series, const WallTimeRun& wall, std::size_t number) {
  const bool is_cuda = std::string(series.backend) == "cuda";
  LoggedRun run{.id = std::to_string(number),
                .command = "run",
                .backend = series.backend,
                .cores = wall.cores,
                .gpus = std::vector<std::string>(is_cuda ? 1 : 0, "H200"),
                .settings = {{"threads.load", "5"}, {"threads.write", "12"}, {"cpu.lanes", "16"}},
                .startup_s = series.startup_s};
  ThroughputSample total{.elapsed_s = wall.wall_s, .interval_s = wall.wall_s};
  total.done = series.images;
  total.cpu_s = wall.cpu_s;
  const auto stage = [&](Stage name, int workers, double share) {
    total.stages.push_back({name, workers, share * wall.cpu_s, share * wall.cpu_s, series.images});
  };
  stage(Stage::load, 5, 0.2);
  stage(Stage::write, 12, series.write_share);
  run.total = total;
  return run;
}

/// Predicts runs with more cores from runs with at most `max_cores`. Returns the largest relative
/// error.
double worst_error(const MeasuredSeries& series, int min_cores, int max_cores) {
  std::vector<LoggedRun> known;
  for (std::size_t i = 0; i < series.runs.size(); ++i) {
    const int cores = series.runs[i].cores;
    if (cores >= min_cores && cores <= max_cores)
      known.push_back(make_run(series, series.runs[i], i));
  }
  const Plan plan = make_plans(known, {}).at(0);
  double worst = 0;
  for (const WallTimeRun& wall : series.runs) {
    if (wall.cores < 8) continue;
    const double measured = series.images / (wall.wall_s - series.startup_s);
    for (const PredictionRow& at : plan.predictions) {
      if (at.cores != wall.cores) continue;
      const double error = at.rate_per_s.value / measured - 1;
      EXPECT_LT(std::abs(error), 0.15) << at.cores << " cores: " << at.rate_per_s.value
                                       << " predicted, " << measured << " measured";
      worst = std::max(worst, std::abs(error));
    }
  }
  return worst;
}

TEST(MeasuredMachine, is_predicted_for_8_and_16_cores_from_2_and_4) {
  EXPECT_GT(worst_error(kSlices, 2, 4), 0);
  EXPECT_GT(worst_error(kPhotographs, 2, 4), 0);
  EXPECT_GT(worst_error(kPhotographsOnCpu, 2, 4), 0);
}

TEST(MeasuredMachine, is_predicted_for_8_and_16_cores_from_1_and_2) {
  EXPECT_GT(worst_error(kSlices, 1, 2), 0);
  EXPECT_GT(worst_error(kPhotographs, 1, 2), 0);
}

}  // namespace
}  // namespace eckart::capacity
