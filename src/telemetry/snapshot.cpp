#include "telemetry/snapshot.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "telemetry/text.hpp"

namespace eckart::telemetry {
namespace {

/// A stage that works for less than this share of its time is not what limits the rate.
constexpr double kSaturatedStage = 0.5;
/// Of cores and GPUs, which do the work of all stages, nothing may be left to speak of.
constexpr double kSaturatedDevice = 0.9;

Counts since(Counts now, const Counts& earlier) {
  now.done -= earlier.done;
  now.skipped -= earlier.skipped;
  now.failed -= earlier.failed;
  for (std::size_t stage = 0; stage < now.failures_in.size(); ++stage) {
    now.retries_in[stage] -= earlier.retries_in[stage];
    for (std::size_t reason = 0; reason < std::size_t(kReasonCount); ++reason)
      now.failures_in[stage][reason] -= earlier.failures_in[stage][reason];
  }
  for (std::size_t reason = 0; reason < std::size_t(kReasonCount); ++reason)
    now.failures[reason] -= earlier.failures[reason];
  now.pixels -= earlier.pixels;
  now.planes -= earlier.planes;
  now.outputs -= earlier.outputs;
  now.input_bytes -= earlier.input_bytes;
  now.output_bytes -= earlier.output_bytes;
  return now;
}

StageRow since(StageRow now, const StageRow& earlier) {
  now.busy_s -= earlier.busy_s;
  now.waiting_for_input_s -= earlier.waiting_for_input_s;
  now.waiting_for_room_s -= earlier.waiting_for_room_s;
  now.cpu_s -= earlier.cpu_s;
  now.images -= earlier.images;
  now.service = now.service.since(earlier.service);
  return now;
}

GpuUse since(GpuUse now, const GpuUse& earlier) {
  now.seconds -= earlier.seconds;
  now.busy_s -= earlier.busy_s;
  now.memory_busy_s -= earlier.memory_busy_s;
  now.energy_j -= earlier.energy_j;
  for (std::size_t i = 0; i < now.throttled.size(); ++i) now.throttled[i] -= earlier.throttled[i];
  return now;
}

double share(double part, double whole) { return whole > 0 ? part / whole : 0.0; }

}  // namespace

std::string_view to_string(Throttle throttle) {
  switch (throttle) {
    case Throttle::power:
      return "power";
    case Throttle::thermal:
      return "thermal";
    case Throttle::hardware:
      return "hardware";
    case Throttle::sync:
      return "sync";
    case Throttle::other:
      return "other";
  }
  return "?";
}

Snapshot Snapshot::since(const Snapshot& earlier) const {
  Snapshot difference = *this;
  difference.seconds = elapsed_s - earlier.elapsed_s;
  difference.found -= earlier.found;
  difference.counts = telemetry::since(counts, earlier.counts);
  for (std::size_t i = 0; i < std::min(stages.size(), earlier.stages.size()); ++i)
    difference.stages[i] = telemetry::since(stages[i], earlier.stages[i]);
  for (std::size_t i = 0; i < std::min(queues.size(), earlier.queues.size()); ++i)
    difference.queues[i].wait = queues[i].wait.since(earlier.queues[i].wait);
  difference.end_to_end = end_to_end.since(earlier.end_to_end);
  difference.batches.count -= earlier.batches.count;
  difference.batches.planes -= earlier.batches.planes;
  difference.batches.planes_if_full -= earlier.batches.planes_if_full;
  difference.oom_splits -= earlier.oom_splits;
  difference.cpu_fallback_images -= earlier.cpu_fallback_images;
  difference.machine.process.cpu_s -= earlier.machine.process.cpu_s;
  for (std::size_t i = 0; i < std::min(machine.gpus.size(), earlier.machine.gpus.size()); ++i)
    difference.machine.gpus[i] = telemetry::since(machine.gpus[i], earlier.machine.gpus[i]);
  return difference;
}

double total_s(const StageRow& stage) {
  return stage.busy_s + stage.waiting_for_input_s + stage.waiting_for_room_s;
}

double busy_share(const StageRow& stage) { return share(stage.busy_s, total_s(stage)); }

double busy_share(const GpuUse& gpu) { return share(gpu.busy_s, gpu.seconds); }

double busy_share(const Machine& machine, double seconds) {
  return share(machine.process.cpu_s, machine.cores * seconds);
}

Bottleneck bottleneck_of(const std::vector<StageRow>& stages, const Machine& machine,
                         double seconds) {
  const double cores = busy_share(machine, seconds);
  double gpu = 0;
  for (const GpuUse& use : machine.gpus) gpu = std::max(gpu, busy_share(use));
  if (gpu >= kSaturatedDevice && gpu >= cores)
    return {"gpu", gpu, fmt::format("the GPU is the bottleneck: {} busy", percent_text(gpu))};

  const auto by_cpu = [](const StageRow& a, const StageRow& b) { return a.cpu_s < b.cpu_s; };
  const auto by_share = [](const StageRow& a, const StageRow& b) {
    return busy_share(a) < busy_share(b);
  };
  if (cores >= kSaturatedDevice && !stages.empty()) {
    const StageRow& most = *std::max_element(stages.begin(), stages.end(), by_cpu);
    return {"cpu", std::min(1.0, cores),
            fmt::format("the CPU is the bottleneck: {} {} {} busy, {} of it in {}", machine.cores,
                        machine.cores == 1 ? "core" : "cores", percent_text(std::min(1.0, cores)),
                        percent_text(share(most.cpu_s, machine.process.cpu_s)), most.name)};
  }
  const auto busiest = std::max_element(stages.begin(), stages.end(), by_share);
  if (busiest == stages.end() || busy_share(*busiest) <= 0) return {};
  const double busy = busy_share(*busiest);
  if (busy < kSaturatedStage)
    return {"", busy,
            fmt::format("no stage is saturated: {} is the busiest, {} busy", busiest->name,
                        percent_text(busy))};
  return {busiest->name, busy,
          fmt::format("{} is the bottleneck: {} busy", busiest->name, percent_text(busy))};
}

}  // namespace eckart::telemetry
