#include "reports/throughput_lines.hpp"

#include <spdlog/fmt/chrono.h>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <ctime>
#include <random>

#include "core/throughput_schema.hpp"
#include "machine/unix_time.hpp"
#include "reports/bottleneck_text.hpp"
#include "reports/failures_json.hpp"
#include "reports/not_read_json.hpp"
#include "text/json.hpp"

namespace eckart::reports {
namespace {

text::Json or_null(const std::string& text) {
  return text.empty() ? text::Json() : text::Json(text);
}

/// Rounds to microseconds, which are exact enough and shorter; null if not finite.
text::Json rounded(double seconds) {
  return std::isfinite(seconds) ? text::Json(std::round(seconds * 1e6) / 1e6) : text::Json();
}

text::Json durations_json(const telemetry::DurationHistogram& durations) {
  return {{"mean", rounded(durations.mean_s())},
          {"p50", rounded(durations.quantile_s(0.5))},
          {"p90", rounded(durations.quantile_s(0.9))},
          {"p99", rounded(durations.quantile_s(0.99))},
          {"count", durations.count()}};
}

text::Json stages_json(const std::vector<telemetry::StageStats>& stages) {
  text::Json json = text::Json::array();
  for (const telemetry::StageStats& stage : stages) {
    json.push_back({{"name", to_string(stage.stage)},
                    {"workers", stage.workers},
                    {"busy_s", rounded(stage.busy_s)},
                    {"waiting_for_input_s", rounded(stage.waiting_for_input_s)},
                    {"blocked_s", rounded(stage.blocked_s)},
                    {"cpu_s", rounded(stage.cpu_s)},
                    {"images", stage.images},
                    {"service_s", durations_json(stage.service)}});
  }
  return json;
}

text::Json queues_json(const std::vector<telemetry::QueueStats>& queues) {
  text::Json json = text::Json::array();
  for (const telemetry::QueueStats& queue : queues) {
    json.push_back({{"name", queue.name},
                    {"images", queue.images},
                    {"capacity", queue.capacity},
                    {"wait_s", durations_json(queue.wait)}});
  }
  return json;
}

text::Json batches_json(const telemetry::BatchStats& batches) {
  return {{"count", batches.count},
          {"planes", batches.planes},
          {"fill", batches.plane_capacity > 0
                       ? text::Json(double(batches.planes) / double(batches.plane_capacity))
                       : text::Json()}};
}

text::Json gpus_json(const std::vector<machine::GpuUsage>& gpus) {
  text::Json json = text::Json::array();
  for (const machine::GpuUsage& gpu : gpus) {
    const auto share = [&](double part_s) {
      return gpu.seconds > 0 ? text::Json(part_s / gpu.seconds) : text::Json();
    };
    text::Json throttle = text::Json::array();
    for (int reason = 0; reason < machine::kThrottleReasonCount; ++reason) {
      if (gpu.throttled_samples[std::size_t(reason)] > 0)
        throttle.push_back(std::string(to_string(machine::ThrottleReason(reason))));
    }
    json.push_back({{"uuid", gpu.uuid},
                    {"busy", share(gpu.busy_s)},
                    {"memory_busy", share(gpu.memory_busy_s)},
                    {"memory_used_bytes", gpu.memory_used_bytes},
                    {"power_w", share(gpu.energy_j)},
                    {"energy_j", gpu.energy_j},
                    {"sm_mhz", gpu.sm_mhz},
                    {"memory_mhz", gpu.memory_mhz},
                    {"temperature_c", gpu.temperature_c},
                    {"throttle", throttle}});
  }
  return json;
}

text::Json bottleneck_json(const telemetry::Snapshot& snapshot) {
  const telemetry::Bottleneck bottleneck =
      telemetry::find_bottleneck(snapshot.stages, snapshot.machine, snapshot.seconds);
  const std::string text = bottleneck_text(bottleneck, snapshot.machine.cores);
  if (snapshot.counts.images() == 0 || text.empty()) return {};
  const text::Json resource =
      bottleneck.resource ? text::Json(telemetry::short_name(*bottleneck.resource)) : text::Json();
  return {{"resource", resource}, {"busy", bottleneck.busy}, {"text", text}};
}

text::Json new_line_object(const char* kind, const RunIdentity& identity) {
  return {{"kind", kind},
          {"schema", kThroughputSchema},
          {"run", identity.run},
          {"time", machine::utc_timestamp(machine::unix_now_s())}};
}

/// A line of an interval or of a whole run.
std::string line(const char* kind, const RunIdentity& identity,
                 const telemetry::Snapshot& snapshot) {
  const telemetry::ImageCounts& counts = snapshot.counts;
  const auto per_second = [&](std::int64_t amount) {
    return snapshot.seconds > 0 ? double(amount) / snapshot.seconds : 0.0;
  };
  const machine::ProcessUsage& process = snapshot.machine.process;
  text::Json json = new_line_object(kind, identity);
  json.update(
      {{"elapsed_s", rounded(snapshot.elapsed_s)},
       {"interval_s", rounded(snapshot.seconds)},
       {"found", snapshot.found},
       {"done", counts.done},
       {"failed", counts.failed},
       {"skipped", counts.skipped},
       {"unfinished", snapshot.unfinished},
       {"failures", failures_json(counts)},
       {"not_read", not_read_json(snapshot.not_read)},
       {"pixels", counts.pixels},
       {"planes", counts.planes},
       {"outputs", counts.outputs},
       {"input_bytes", counts.input_bytes},
       {"output_bytes", counts.output_bytes},
       {"images_per_s", per_second(counts.done)},
       {"pixels_per_s", per_second(counts.pixels)},
       {"input_bytes_per_s", per_second(counts.input_bytes)},
       {"output_bytes_per_s", per_second(counts.output_bytes)},
       {"stages", stages_json(snapshot.stages)},
       {"queues", queues_json(snapshot.queues)},
       {"budget", {{"bytes", snapshot.budget_bytes}, {"used_bytes", snapshot.budget_used_bytes}}},
       {"batches", batches_json(snapshot.batches)},
       {"end_to_end_s", durations_json(snapshot.end_to_end)},
       {"process",
        {{"cpu_s", rounded(process.cpu_s)},
         {"rss_bytes", process.rss_bytes},
         {"peak_rss_bytes", process.peak_rss_bytes},
         {"threads", process.threads}}},
       {"gpus", gpus_json(snapshot.machine.gpus)},
       {"oom_splits", snapshot.oom_splits},
       {"cpu_fallback_images", snapshot.cpu_fallback_images},
       {"bottleneck", bottleneck_json(snapshot)}});
  return text::dump_json(json);
}

}  // namespace

RunIdentity make_run_identity(std::string command, std::string version) {
  RunIdentity identity{.run = {},
                       .command = std::move(command),
                       .version = std::move(version),
                       .machine = machine::machine_info(),
                       .settings = {},
                       .configuration_hash = {}};
  identity.run = fmt::format("{:.19}-{:x}-{:06x}", machine::utc_timestamp(machine::unix_now_s()),
                             ::getpid(), std::random_device()() & 0xffffffU);
  return identity;
}

std::string run_line(const RunIdentity& identity, const GpuInventory& gpus,
                     const telemetry::Snapshot& snapshot) {
  text::Json gpus_json = text::Json::array(), workers = text::Json::object(),
             settings = text::Json::object();
  for (const machine::GpuInfo& gpu : gpus.gpus) {
    gpus_json.push_back({{"uuid", gpu.uuid},
                         {"name", gpu.name},
                         {"memory_bytes", gpu.memory_bytes},
                         {"power_limit_w", gpu.power_limit_w}});
  }
  for (const telemetry::StageStats& stage : snapshot.stages)
    workers[std::string(to_string(stage.stage))] = stage.workers;
  for (const auto& [key, value] : identity.settings) settings[key] = value;
  text::Json json = new_line_object("run", identity);
  json.update({{"command", identity.command},
               {"version", identity.version},
               {"host", identity.machine.host},
               {"cpu", identity.machine.cpu},
               {"cores", identity.machine.cores},
               {"memory_bytes", identity.machine.memory_bytes},
               {"backend", or_null(snapshot.backend)},
               {"device", or_null(snapshot.device)},
               {"driver", or_null(gpus.driver)},
               {"gpus", gpus_json},
               {"workers", workers},
               {"settings", settings},
               {"configuration_hash", identity.configuration_hash},
               {"startup_s", snapshot.startup_s ? rounded(*snapshot.startup_s) : text::Json()}});
  return text::dump_json(json);
}

std::string interval_line(const RunIdentity& identity, const telemetry::Snapshot& difference) {
  return line("interval", identity, difference);
}

std::string total_line(const RunIdentity& identity, const telemetry::Snapshot& snapshot) {
  return line("total", identity, snapshot);
}

}  // namespace eckart::reports
