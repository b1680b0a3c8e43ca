#include "telemetry/snapshot.hpp"

#include <algorithm>

namespace eckart::telemetry {
namespace {

/// A stage with a lower busy ratio does not limit the rate.
constexpr double kSaturatedStageRatio = 0.5;
/// A stage that reads or writes files and computes for a smaller part of its busy time waits for a
/// disk.
constexpr double kMinCpuShareOfBusyTime = 0.5;
/// If fewer cores were idle, such a stage may as well have waited for a core.
constexpr double kMinIdleCores = 0.5;

ImageCounts since(ImageCounts now, const ImageCounts& earlier) {
  now.done -= earlier.done;
  now.skipped -= earlier.skipped;
  now.failed -= earlier.failed;
  for (std::size_t stage = 0; stage < now.failures_by_stage.size(); ++stage) {
    now.retries_by_stage[stage] -= earlier.retries_by_stage[stage];
    for (std::size_t reason = 0; reason < std::size_t(kFailureReasonCount); ++reason)
      now.failures_by_stage[stage][reason] -= earlier.failures_by_stage[stage][reason];
  }
  for (std::size_t reason = 0; reason < std::size_t(kFailureReasonCount); ++reason)
    now.failures[reason] -= earlier.failures[reason];
  now.pixels -= earlier.pixels;
  now.planes -= earlier.planes;
  now.outputs -= earlier.outputs;
  now.input_bytes -= earlier.input_bytes;
  now.output_bytes -= earlier.output_bytes;
  return now;
}

StageStats since(StageStats now, const StageStats& earlier) {
  now.busy_s -= earlier.busy_s;
  now.waiting_for_input_s -= earlier.waiting_for_input_s;
  now.blocked_s -= earlier.blocked_s;
  now.cpu_s -= earlier.cpu_s;
  now.images -= earlier.images;
  now.service = now.service.since(earlier.service);
  return now;
}

machine::GpuUsage since(machine::GpuUsage now, const machine::GpuUsage& earlier) {
  now.seconds -= earlier.seconds;
  now.busy_s -= earlier.busy_s;
  now.memory_busy_s -= earlier.memory_busy_s;
  now.energy_j -= earlier.energy_j;
  for (std::size_t i = 0; i < now.throttled_samples.size(); ++i)
    now.throttled_samples[i] -= earlier.throttled_samples[i];
  return now;
}

bool uses_files(Stage stage) {
  return stage == Stage::source || stage == Stage::load || stage == Stage::write;
}

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0.0; }

/// Whether at least this share of the cores had nothing to run, neither of this process, which may
/// be limited to some cores, nor of another.
bool has_idle_cores(const machine::MachineUsage& machine, double seconds) {
  return busy_ratio(machine, seconds) <= 1 - kMinIdleCores &&
         ratio(machine.idle_core_s, machine.cores * seconds) >= kMinIdleCores;
}

/// The share of the cores that other programs used; 0 if cores were idle, or it is not known.
double other_programs(const machine::MachineUsage& machine, double seconds) {
  const double idle = ratio(machine.idle_core_s, machine.cores * seconds);
  if (idle <= 0 || idle > 1 - kSaturationThreshold) return 0;
  return std::max(0.0, 1 - idle - busy_ratio(machine, seconds));
}

}  // namespace

Snapshot Snapshot::since(const Snapshot& earlier) const {
  Snapshot difference = *this;
  difference.seconds = elapsed_s - earlier.elapsed_s;
  difference.found -= earlier.found;
  difference.counts = telemetry::since(counts, earlier.counts);
  for (std::size_t i = 0; i < std::min(stages.size(), earlier.stages.size()); ++i) {
    StageStats before = earlier.stages[i];
    // Until there is a backend, the number of its workers is not known. They wait for input.
    if (before.workers == 0)
      before.waiting_for_input_s = double(stages[i].workers) * earlier.elapsed_s;
    difference.stages[i] = telemetry::since(stages[i], before);
  }
  for (std::size_t i = 0; i < std::min(queues.size(), earlier.queues.size()); ++i)
    difference.queues[i].wait = queues[i].wait.since(earlier.queues[i].wait);
  difference.end_to_end = end_to_end.since(earlier.end_to_end);
  difference.batches.count -= earlier.batches.count;
  difference.batches.planes -= earlier.batches.planes;
  difference.batches.plane_capacity -= earlier.batches.plane_capacity;
  difference.oom_splits -= earlier.oom_splits;
  difference.cpu_fallback_images -= earlier.cpu_fallback_images;
  difference.machine.process.cpu_s -= earlier.machine.process.cpu_s;
  difference.machine.idle_core_s -= earlier.machine.idle_core_s;
  for (std::size_t i = 0; i < std::min(machine.gpus.size(), earlier.machine.gpus.size()); ++i)
    difference.machine.gpus[i] = telemetry::since(machine.gpus[i], earlier.machine.gpus[i]);
  return difference;
}

double total_time_s(const StageStats& stage) {
  return stage.busy_s + stage.waiting_for_input_s + stage.blocked_s;
}

double busy_ratio(const StageStats& stage) { return ratio(stage.busy_s, total_time_s(stage)); }

double busy_ratio(const machine::GpuUsage& gpu) { return ratio(gpu.busy_s, gpu.seconds); }

double busy_ratio(const machine::MachineUsage& machine, double seconds) {
  return ratio(machine.process.cpu_s, machine.cores * seconds);
}

std::string_view short_name(Resource resource) {
  if (resource == Resource::cores) return "cpu";
  return resource == Resource::gpu ? "gpu" : to_string(resource);
}

Bottleneck find_bottleneck(const std::vector<StageStats>& stages,
                           const machine::MachineUsage& machine, double seconds) {
  const double cores = busy_ratio(machine, seconds);
  double gpu = 0;
  for (const machine::GpuUsage& usage : machine.gpus) gpu = std::max(gpu, busy_ratio(usage));
  if (gpu >= kSaturationThreshold && gpu >= cores) return {Resource::gpu, gpu};

  const auto by_cpu = [](const StageStats& a, const StageStats& b) { return a.cpu_s < b.cpu_s; };
  const auto by_busy_ratio = [](const StageStats& a, const StageStats& b) {
    return busy_ratio(a) < busy_ratio(b);
  };
  if (cores >= kSaturationThreshold && !stages.empty()) {
    const StageStats& busiest_cpu_stage = *std::max_element(stages.begin(), stages.end(), by_cpu);
    return {Resource::cores, std::min(1.0, cores), busiest_cpu_stage.stage,
            ratio(busiest_cpu_stage.cpu_s, machine.process.cpu_s)};
  }
  const auto busiest = std::max_element(stages.begin(), stages.end(), by_busy_ratio);
  if (busiest == stages.end() || busy_ratio(*busiest) <= 0) return {};
  const double busy = busy_ratio(*busiest);
  const double other = other_programs(machine, seconds);
  if (busy < kSaturatedStageRatio)
    return {.busy = busy, .stage = busiest->stage, .other_programs = other};
  const bool waits_for_disk = uses_files(busiest->stage) && has_idle_cores(machine, seconds) &&
                              busiest->cpu_s > 0 &&
                              ratio(busiest->cpu_s, busiest->busy_s) < kMinCpuShareOfBusyTime;
  return {.resource = waits_for_disk ? Resource::disk : resource_of(busiest->stage),
          .busy = busy,
          .stage = busiest->stage,
          .stage_workers = busiest->is_adaptive ? 0 : busiest->workers,
          .other_programs = other};
}

}  // namespace eckart::telemetry
