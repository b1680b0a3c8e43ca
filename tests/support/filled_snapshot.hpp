#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "telemetry/snapshot.hpp"

namespace eckart::test {

/// Durations of 10 images for each of `tens`: 6 of 1 ms, 3 of 2 ms and 1 of 4 ms.
inline telemetry::DurationHistogram filled_durations(std::int64_t tens) {
  using std::chrono::milliseconds;
  telemetry::DurationRecorder recorder;
  recorder.add(milliseconds(1), 6 * tens);
  recorder.add(milliseconds(2), 3 * tens);
  recorder.add(milliseconds(4), tens);
  return recorder.read();
}

/// A snapshot in which all fields differ. Its counters are proportional to `n`.
inline telemetry::Snapshot filled_snapshot(std::int64_t n) {
  constexpr std::int64_t kMebibyte = std::int64_t(1) << 20;
  const double x = double(n);
  telemetry::Snapshot all;
  all.elapsed_s = all.seconds = 10 * x;
  all.startup_s = 0.5;
  all.backend = "cuda", all.device = "NVIDIA H200";
  all.found = 101 * n, all.unfinished = 102 * n;
  all.counts.done = 11 * n, all.counts.skipped = 12 * n, all.counts.failed = 13 * n;
  all.counts.failures[std::size_t(FailureReason::corrupt)] = 14 * n;
  all.counts.failures[std::size_t(FailureReason::not_written)] = 15 * n;
  const auto fail = [&](Stage stage, FailureReason reason, std::int64_t images) {
    all.counts.failures_by_stage[std::size_t(stage)][std::size_t(reason)] = images;
  };
  fail(Stage::load, FailureReason::corrupt, 16 * n);
  fail(Stage::write, FailureReason::not_written, 17 * n);
  all.counts.retries_by_stage[std::size_t(Stage::load)] = 18 * n;
  all.counts.retries_by_stage[std::size_t(Stage::compute)] = 19 * n;
  all.counts.pixels = 20000 * n, all.counts.planes = 21 * n, all.counts.outputs = 22 * n;
  all.counts.input_bytes = 23000 * n, all.counts.output_bytes = 24000 * n;
  all.stages.resize(2);
  all.stages[0] = {Stage::load,        2, false, 12 * x, 6 * x, 1.5 * x, 4 * x, 25 * n,
                   filled_durations(n)};
  all.stages[1] = {Stage::write,           1, true, 2 * x, 7 * x, 1.1 * x, 0.5 * x, 26 * n,
                   filled_durations(2 * n)};
  all.queues = {{"found", 27, 256, filled_durations(3 * n)},
                {"loaded", 28, 128, filled_durations(4 * n)}};
  all.end_to_end = filled_durations(5 * n);
  all.oldest_unfinished_unix_s = 1000, all.last_done_unix_s = 2000;
  all.recent_failures = {{3000, "/in/a.png", Stage::load, FailureReason::corrupt, "no end"}};
  all.not_read = {{".tif", 29}};
  all.batches = {30 * n, 31 * n, 62 * n};
  all.budget_bytes = 640 * kMebibyte, all.budget_used_bytes = 320 * kMebibyte;
  all.oom_splits = 33 * n, all.cpu_fallback_images = 34 * n;
  all.machine.cores = 4, all.machine.idle_core_s = 9 * x;
  all.machine.process = {5 * x, 35 * kMebibyte, 36 * kMebibyte, 37};
  machine::GpuUsage& gpu = all.machine.gpus.emplace_back();
  gpu.uuid = "GPU-1", gpu.seconds = 10 * x, gpu.busy_s = 4 * x, gpu.memory_busy_s = 2.5 * x;
  gpu.energy_j = 3000 * x, gpu.memory_used_bytes = 40 * kMebibyte;
  gpu.sm_mhz = 1001, gpu.memory_mhz = 1002, gpu.temperature_c = 55;
  gpu.throttled_samples[std::size_t(machine::ThrottleReason::thermal)] = n;
  return all;
}

}  // namespace eckart::test
