#include "app/calibrate.hpp"

#include <time.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "core/error.hpp"
#include "core/round_up.hpp"
#include "synth/synth.hpp"

namespace eckart::app {
namespace {

/// The terms of the cost model contribute different shares of the time in each shape.
struct CalibrationCase {
  int rows, cols;
  std::vector<int> ranks;
};
const std::vector<CalibrationCase> kCalibrationCases = {
    {64, 64, {2, 16}},        {128, 128, {4, 70}},   {320, 192, {20, 100}},
    {256, 256, {8, 50, 150}}, {512, 256, {20, 130}}, {512, 512, {20, 100, 300}},
    {1024, 1024, {50}},
};
constexpr int kSceneCount = 2;           // the batches alternate between the scenes
constexpr int kPartialBatchDivisor = 8;  // a partial batch has 1/8 of the planes of a full batch
constexpr double kMaxPassSeconds = 2;    // seconds; a longer pass is timed only once
constexpr std::size_t kMinMeasurements = 3,
                      kMaxMeasurements = 25;  // the median of the measurements is used

/// CPU lanes compute on the calling thread. The CPU time of that thread does not depend on other
/// load of the machine.
double clock_seconds(bool use_thread_clock) {
  timespec time{};
  clock_gettime(use_thread_clock ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

std::vector<Image> make_scenes(const CalibrationCase& shape) {
  std::vector<Image> scenes;
  scenes.reserve(kSceneCount);
  for (int seed = 0; seed < kSceneCount; ++seed) {
    scenes.push_back(synth::synthesize({.kind = synth::SynthKind::texture,
                                        .rows = shape.rows,
                                        .cols = shape.cols,
                                        .channels = 1,
                                        .seed = std::uint64_t(seed)}));
  }
  return scenes;
}

using Batches = std::vector<std::vector<compute::Task>>;

/// Returns batches of `planes` planes that contain all scenes. The number of batches is a multiple
/// of `slots`.
Batches make_batches(const std::vector<Image>& scenes, std::span<const RankPolicy> ranks,
                     int planes, int slots) {
  const int batch_count = (int(scenes.size()) + planes - 1) / planes;
  Batches batches(std::size_t(round_up(batch_count, slots)));
  std::size_t next = 0;
  for (auto& batch : batches) {
    for (int i = 0; i < planes; ++i) {
      const Image& scene = scenes[next++ % scenes.size()];
      compute::Task& task = batch.emplace_back();
      task.input = Image(scene.shape());
      std::memcpy(task.input.data(), scene.data(), scene.bytes());
      task.ranks.assign(ranks.begin(), ranks.end());
      task.outputs.emplace_back(scene.shape());
      task.results.emplace_back(1);
    }
  }
  return batches;
}

/// Keeps all slots of the lane busy.
void run_batches(compute::Lane& lane, const compute::BatchKey& key, Batches& batches) {
  const auto slots = std::size_t(lane.slots());
  for (std::size_t first = 0; first < batches.size(); first += slots) {
    for (std::size_t slot = 0; slot < slots; ++slot) {
      std::vector<compute::Task*> tasks;
      for (compute::Task& task : batches[first + slot]) tasks.push_back(&task);
      lane.start(int(slot), key, tasks);
    }
    for (std::size_t slot = 0; slot < slots; ++slot) lane.finish(int(slot));
  }
  for (const auto& batch : batches) {
    for (const compute::Task& task : batch) {
      if (!task.error.empty()) throw FatalError(ExitCode::internal, task.error);
    }
  }
}

/// Returns the median time of one batch.
double median_batch_seconds(compute::Lane& lane, const compute::BatchKey& key, Batches& batches,
                            bool use_thread_clock, double budget) {
  const auto pass = [&] {
    const double start = clock_seconds(use_thread_clock);
    run_batches(lane, key, batches);
    return (clock_seconds(use_thread_clock) - start) / double(batches.size());
  };
  // Warm up twice on CUDA: the second time, the lane uses the number of iterations that the images
  // need.
  for (int i = 0; i < lane.slots(); ++i) {
    if (const double time = pass(); time * double(batches.size()) > kMaxPassSeconds) return time;
  }
  std::vector<double> times;
  for (double total = 0;
       times.size() < kMinMeasurements || (total < budget && times.size() < kMaxMeasurements);) {
    times.push_back(pass());
    total += times.back() * double(batches.size());
  }
  std::nth_element(times.begin(), times.begin() + std::ptrdiff_t(times.size() / 2), times.end());
  return times[times.size() / 2];
}

/// Times a full batch and, if a batch holds several planes, a partial batch, to separate the cost
/// of a batch from the cost of its planes. Returns nothing if the backend chooses another
/// solver, because `solver` does not support the shape or rank.
std::vector<compute::Timing> measure_solver(compute::Backend& backend, SolverKind solver,
                                            const compute::BatchKey& key,
                                            const std::vector<Image>& scenes, bool use_thread_clock,
                                            double budget) {
  const std::unique_ptr<compute::Lane> lane = backend.make_lane(0);
  const int full = backend.batch_planes(key), part = full / kPartialBatchDivisor;
  std::vector<compute::Timing> timings;
  for (const int planes : {full, part}) {
    if (planes == 0) continue;
    Batches batches = make_batches(scenes, key.ranks, planes, lane->slots());
    const double share = double(planes) / (full + part);
    const double time = median_batch_seconds(*lane, key, batches, use_thread_clock, share * budget);
    compute::SolverChoice choice = backend.solver_choices().at(0);
    if (choice.solver != solver) return {};
    choice.batch.planes = planes;
    timings.push_back({solver, choice.batch, time});
  }
  return timings;
}

int count_measurements() {
  int count = 0;
  for (const CalibrationCase& shape : kCalibrationCases) count += 2 * int(shape.ranks.size());
  return count;
}

}  // namespace

CalibrationResult calibrate(const CalibrationRequest& request) {
  CalibrationResult result;
  const int total = count_measurements();
  int done = 0;
  for (const CalibrationCase& calibration_case : kCalibrationCases) {
    const std::vector<Image> scenes = make_scenes(calibration_case);
    for (const int rank : calibration_case.ranks) {
      const compute::BatchKey key{{calibration_case.rows, calibration_case.cols},
                                  {RankPolicy{rank}}};
      for (const SolverKind solver : {SolverKind::subspace, SolverKind::gram}) {
        if (request.on_progress) request.on_progress(done++, total);
        compute::BackendOptions options;
        options.solver = solver;
        const std::unique_ptr<compute::Backend> backend = request.make_backend(options);
        result.device = backend->device_name();
        for (const compute::Timing& timing :
             measure_solver(*backend, solver, key, scenes, request.backend == CostBackend::cpu,
                            request.seconds / total)) {
          result.timings.push_back(timing);
        }
      }
    }
  }
  result.costs = compute::fit_costs(result.timings);
  return result;
}

}  // namespace eckart::app
