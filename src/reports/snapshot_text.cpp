#include "reports/snapshot_text.hpp"

#include <spdlog/fmt/fmt.h>

#include <string_view>

#include "core/mebibytes.hpp"
#include "reports/bottleneck_text.hpp"
#include "text/format_count.hpp"
#include "text/format_duration.hpp"
#include "text/format_number.hpp"
#include "text/percent_text.hpp"

namespace eckart::reports {
namespace {

std::string percentiles(const telemetry::DurationHistogram& durations) {
  if (durations.count() == 0) return "-";
  return fmt::format("{}, {}, {}", text::format_duration(durations.quantile_s(0.5)),
                     text::format_duration(durations.quantile_s(0.9)),
                     text::format_duration(durations.quantile_s(0.99)));
}

std::string rate_text(const telemetry::Snapshot& snapshot) {
  return text::format_image_rate(
      snapshot.seconds > 0 ? double(snapshot.counts.done) / snapshot.seconds : 0.0);
}

std::string stage_lines(const telemetry::Snapshot& recent) {
  constexpr std::string_view kRow = "{:<8} {:>7} {:>5} {:>10} {:>7} {:>6}  {}\n";
  std::string text = fmt::format(kRow, "stage", "threads", "busy", "input wait", "blocked", "cores",
                                 "p50, p90, p99");
  for (const telemetry::StageStats& stage : recent.stages) {
    const double total_s = telemetry::total_time_s(stage);
    const auto share = [&](double s) {
      return total_s > 0 ? text::percent_text(s / total_s) : "-";
    };
    text +=
        fmt::format(kRow, to_string(stage.stage), stage.workers, share(stage.busy_s),
                    share(stage.waiting_for_input_s), share(stage.blocked_s),
                    recent.seconds > 0 ? fmt::format("{:.2f}", stage.cpu_s / recent.seconds) : "-",
                    percentiles(stage.service));
  }
  return text;
}

std::string queue_line(const telemetry::Snapshot& recent) {
  std::string text;
  for (const telemetry::QueueStats& queue : recent.queues) {
    text += fmt::format("{}{} {}/{}", text.empty() ? "queues     " : ", ", queue.name, queue.images,
                        queue.capacity);
  }
  return text + fmt::format("; decoded images: {:.0f} of {:.0f} MiB\n",
                            double(recent.budget_used_bytes) / double(kMiB),
                            double(recent.budget_bytes) / double(kMiB));
}

std::string gpu_lines(const machine::MachineUsage& machine) {
  std::string text;
  for (const machine::GpuUsage& gpu : machine.gpus) {
    text += fmt::format("gpu        {}: {} busy, {:.0f} MiB in use, {:.0f} W, {} MHz, {} °C",
                        gpu.uuid, text::percent_text(telemetry::busy_ratio(gpu)),
                        double(gpu.memory_used_bytes) / double(kMiB),
                        gpu.seconds > 0 ? gpu.energy_j / gpu.seconds : 0.0, gpu.sm_mhz,
                        gpu.temperature_c);
    for (int reason = 0; reason < machine::kThrottleReasonCount; ++reason) {
      if (gpu.throttled_samples[std::size_t(reason)] > 0)
        text += fmt::format(", throttled: {}", to_string(machine::ThrottleReason(reason)));
    }
    text += '\n';
  }
  return text;
}

}  // namespace

std::string snapshot_text(const telemetry::Snapshot& all, const telemetry::Snapshot& recent) {
  const telemetry::ImageCounts& counts = all.counts;
  std::string text =
      fmt::format("images     {} done, {} failed, {} skipped, {} unfinished, in {:.1f} s\n",
                  counts.done, counts.failed, counts.skipped, all.unfinished, all.elapsed_s);
  text += fmt::format("rate       {} in the last {:.1f} s, {} since the start\n", rate_text(recent),
                      recent.seconds, rate_text(all));
  text += stage_lines(recent) + queue_line(recent);
  text += fmt::format("latency    {} (p50, p90, p99, from found to published)\n",
                      percentiles(recent.end_to_end));
  text += fmt::format("process    {:.2f} of {}, {:.0f} MiB in memory, {}\n",
                      recent.seconds > 0 ? recent.machine.process.cpu_s / recent.seconds : 0.0,
                      text::format_count(recent.machine.cores, "core"),
                      double(recent.machine.process.rss_bytes) / double(kMiB),
                      text::format_count(recent.machine.process.threads, "thread"));
  text += gpu_lines(recent.machine);
  const std::string bottleneck =
      bottleneck_text(telemetry::find_bottleneck(recent.stages, recent.machine, recent.seconds),
                      recent.machine.cores);
  const bool is_idle = bottleneck.empty() || recent.counts.images() == 0;
  return text + "bottleneck " + (is_idle ? "no image finished recently" : bottleneck) + '\n';
}

std::string short_bottleneck_text(const telemetry::Snapshot& recent) {
  const telemetry::Bottleneck bottleneck =
      telemetry::find_bottleneck(recent.stages, recent.machine, recent.seconds);
  if (!bottleneck.resource) return {};
  return fmt::format("{} {} % busy", telemetry::short_name(*bottleneck.resource),
                     int(100 * bottleneck.busy));
}

}  // namespace eckart::reports
