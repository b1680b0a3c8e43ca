#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "machine/machine_info.hpp"
#include "status_server/run_status.hpp"

namespace eckart::status_server {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricType;
using Labels = std::vector<std::pair<std::string, std::string>>;

/// The metric families of one scrape. Histogram buckets have bounds in steps of 1, 2.5 and 5.
class MetricFamilies {
 public:
  void add(const char* name, const char* help, MetricType type) {
    families_.push_back({name, help, type, {}});
  }
  void counter(double value, const Labels& labels = {}) {
    metric(labels).counter.value = std::max(0.0, value);
  }
  void gauge(double value, const Labels& labels = {}) { metric(labels).gauge.value = value; }
  void histogram(const telemetry::DurationHistogram& durations, const Labels& labels = {}) {
    ClientMetric::Histogram& histogram = metric(labels).histogram;
    histogram.sample_count = std::uint64_t(durations.count());
    histogram.sample_sum = durations.sum_s();
    for (double decade = 1e-5; decade < 500; decade *= 10) {
      for (const double step : {1.0, 2.5, 5.0}) {
        const double bound = decade * step;
        histogram.bucket.push_back({std::uint64_t(durations.count_up_to(bound)), bound});
      }
    }
    histogram.bucket.push_back({histogram.sample_count, std::numeric_limits<double>::infinity()});
  }
  // A family with one metric.
  void counter(const char* name, const char* help, double value) {
    add(name, help, MetricType::Counter);
    counter(value);
  }
  void gauge(const char* name, const char* help, double value) {
    add(name, help, MetricType::Gauge);
    gauge(value);
  }

  std::string text() const { return prometheus::TextSerializer().Serialize(families_); }

 private:
  ClientMetric& metric(const Labels& labels) {
    ClientMetric& metric = families_.back().metric.emplace_back();
    for (const auto& [name, value] : labels) metric.label.push_back({name, value});
    return metric;
  }
  std::vector<prometheus::MetricFamily> families_;
};

/// The sum over the watches of a service is the total.
void add_finished_images(MetricFamilies& out, const RunStatus& status) {
  out.add("eckart_images_total", "Finished images by result", MetricType::Counter);
  const auto add = [&](std::int64_t done, std::int64_t failed, std::int64_t skipped,
                       const Labels& watch) {
    for (const auto& [result, count] :
         {std::pair("done", done), std::pair("failed", failed), std::pair("skipped", skipped)}) {
      Labels labels = watch;
      labels.emplace_back("result", result);
      out.counter(double(count), labels);
    }
  };
  for (const WatchStatus& watch : status.state.watches)
    add(watch.done, watch.failed, watch.skipped, {{"watch", watch.name}});
  const telemetry::ImageCounts& counts = status.all.counts;
  if (status.state.watches.empty()) add(counts.done, counts.failed, counts.skipped, {});
}

void add_images(MetricFamilies& out, const RunStatus& status) {
  const telemetry::Snapshot& all = status.all;
  const telemetry::ImageCounts& counts = all.counts;
  out.add("eckart_images_found_total", "Inputs found, counting each retry", MetricType::Counter);
  // `found` decreases when an image is returned for a retry, but a counter must not.
  out.counter(double(std::accumulate(counts.retries_by_stage.begin(), counts.retries_by_stage.end(),
                                     all.found)),
              {{"source", status.identity.command}});
  add_finished_images(out, status);
  out.add("eckart_failures_total", "Failed images by stage and reason", MetricType::Counter);
  for (int stage = 0; stage < kStageCount; ++stage) {
    for (int reason = int(FailureReason::none) + 1; reason < kFailureReasonCount; ++reason) {
      out.counter(double(counts.failures_by_stage[std::size_t(stage)][std::size_t(reason)]),
                  {{"stage", std::string(to_string(Stage(stage)))},
                   {"reason", std::string(to_string(FailureReason(reason)))}});
    }
  }
  out.add("eckart_retries_total", "Images returned for a retry, by stage", MetricType::Counter);
  for (int stage = 0; stage < kStageCount; ++stage)
    out.counter(double(counts.retries_by_stage[std::size_t(stage)]),
                {{"stage", std::string(to_string(Stage(stage)))}});
  out.counter("eckart_pixels_total", "Pixels of images done", double(counts.pixels));
  out.counter("eckart_input_bytes_total", "Bytes of files read", double(counts.input_bytes));
  out.counter("eckart_output_bytes_total", "Bytes of files written", double(counts.output_bytes));
  out.add("eckart_end_to_end_seconds", "Time from finding an image to publishing its outputs",
          MetricType::Histogram);
  out.histogram(all.end_to_end);

  std::int64_t waiting = 0;
  for (const WatchStatus& watch : status.state.watches) waiting += watch.waiting;
  out.gauge("eckart_backlog_images", "Images found or waiting that are not finished",
            double(waiting + all.unfinished));
  const double oldest[] = {all.oldest_unfinished_unix_s, status.state.oldest_waiting_unix_s};
  const bool has_both = oldest[0] > 0 && oldest[1] > 0;
  out.gauge("eckart_oldest_unfinished_timestamp_seconds",
            "Unix time when the oldest unfinished image was found; 0: none",
            has_both ? std::min(oldest[0], oldest[1]) : std::max(oldest[0], oldest[1]));
  out.gauge("eckart_last_success_timestamp_seconds",
            "Unix time of the last done image; 0: none yet",
            std::max(all.last_done_unix_s, status.state.last_done_unix_s));
}

void add_stages(MetricFamilies& out, const std::vector<telemetry::StageStats>& stages) {
  out.add("eckart_stage_workers", "Worker threads of the stage; lanes for compute",
          MetricType::Gauge);
  for (const telemetry::StageStats& stage : stages)
    out.gauge(stage.workers, {{"stage", std::string(to_string(stage.stage))}});
  out.add("eckart_stage_busy_seconds_total", "Busy time, summed over the workers",
          MetricType::Counter);
  for (const telemetry::StageStats& stage : stages)
    out.counter(stage.busy_s, {{"stage", std::string(to_string(stage.stage))}});
  out.add("eckart_stage_waiting_seconds_total", "Waiting time, summed over the workers",
          MetricType::Counter);
  for (const telemetry::StageStats& stage : stages) {
    out.counter(stage.waiting_for_input_s,
                {{"stage", std::string(to_string(stage.stage))}, {"for", "input"}});
    out.counter(stage.blocked_s,
                {{"stage", std::string(to_string(stage.stage))}, {"for", "blocked"}});
  }
  out.add("eckart_stage_cpu_seconds_total", "CPU time of the threads", MetricType::Counter);
  for (const telemetry::StageStats& stage : stages)
    out.counter(stage.cpu_s, {{"stage", std::string(to_string(stage.stage))}});
  out.add("eckart_stage_duration_seconds", "Time of an image in the stage", MetricType::Histogram);
  for (const telemetry::StageStats& stage : stages)
    out.histogram(stage.service, {{"stage", std::string(to_string(stage.stage))}});
}

void add_queues(MetricFamilies& out, const telemetry::Snapshot& all,
                const telemetry::Snapshot& recent) {
  out.add("eckart_queue_images", "Images in the queue", MetricType::Gauge);
  for (const telemetry::QueueStats& queue : all.queues)
    out.gauge(double(queue.images), {{"queue", queue.name}});
  out.add("eckart_queue_capacity_images", "Capacity of the queue", MetricType::Gauge);
  for (const telemetry::QueueStats& queue : all.queues)
    out.gauge(double(queue.capacity), {{"queue", queue.name}});
  out.add("eckart_queue_wait_seconds", "Time of an image in the queue", MetricType::Histogram);
  for (const telemetry::QueueStats& queue : all.queues)
    out.histogram(queue.wait, {{"queue", queue.name}});
  const telemetry::BatchStats& batches = recent.batches.count > 0 ? recent.batches : all.batches;
  out.gauge(
      "eckart_batch_fill_ratio", "Planes in recent batches divided by their capacity",
      batches.plane_capacity > 0 ? double(batches.planes) / double(batches.plane_capacity) : 0);
}

void add_watches(MetricFamilies& out, const std::vector<WatchStatus>& watches) {
  if (watches.empty()) return;
  const auto gauges = [&](const char* name, const char* help, std::int64_t WatchStatus::*value) {
    out.add(name, help, MetricType::Gauge);
    for (const WatchStatus& watch : watches)
      out.gauge(double(watch.*value), {{"watch", watch.name}});
  };
  out.add("eckart_watch_state", "1 for the state of the watch, 0 for the other states",
          MetricType::Gauge);
  for (const WatchStatus& watch : watches) {
    for (const auto& [condition, name] : enum_names(WatchCondition{}))
      out.gauge(watch.condition == condition,
                {{"watch", watch.name}, {"state", std::string(name)}});
  }
  gauges("eckart_watch_unfinished_images", "Images found or waiting that are not finished",
         &WatchStatus::unfinished);
  gauges("eckart_quarantine_files", "Inputs in the quarantine, at its last check",
         &WatchStatus::quarantine_files);
  gauges("eckart_quarantine_bytes", "Bytes of the quarantine, at its last check",
         &WatchStatus::quarantine_bytes);
  out.add("eckart_ignored_total", "Files that were not read because of their names",
          MetricType::Counter);
  for (const WatchStatus& watch : watches)
    out.counter(double(watch.not_read_total), {{"watch", watch.name}});
  out.add("eckart_ignored_files", "Files that are not read because of their names, now",
          MetricType::Gauge);
  for (const WatchStatus& watch : watches) {
    for (const auto& [extension, count] : watch.not_read)
      out.gauge(double(count), {{"watch", watch.name}, {"extension", extension}});
  }
  out.add("eckart_free_bytes", "Free space on the file system of the output folder",
          MetricType::Gauge);
  for (const WatchStatus& watch : watches) {
    if (watch.free_bytes) out.gauge(double(*watch.free_bytes), {{"watch", watch.name}});
  }
}

void add_broker(MetricFamilies& out, const QueueState& queue) {
  const Labels labels{{"queue", queue.name}};
  const auto gauge = [&](const char* name, const char* help, double value) {
    out.add(name, help, MetricType::Gauge);
    out.gauge(value, labels);
  };
  const auto counter = [&](const char* name, const char* help, std::int64_t value) {
    out.add(name, help, MetricType::Counter);
    out.counter(double(value), labels);
  };
  gauge("eckart_broker_connected", "1 if connected to the broker, else 0", queue.is_connected);
  gauge("eckart_broker_waiting_messages", "Messages that no worker has taken",
        double(queue.waiting));
  gauge("eckart_broker_in_flight_messages", "Messages that this worker has taken",
        double(queue.in_flight));
  gauge("eckart_broker_dead_letters", "Messages that no worker could process",
        double(queue.dead_letters));
  counter("eckart_broker_acknowledged_messages_total", "Messages whose images are all finished",
          queue.acknowledged);
  counter("eckart_broker_rejected_messages_total", "Messages that this worker dead-lettered",
          queue.rejected);
  counter("eckart_broker_reconnects_total", "Connections to the broker after the first one",
          queue.reconnects);
}

void add_service(MetricFamilies& out, const RunStatus& status) {
  const ServiceState& state = status.state;
  out.gauge("eckart_ready", "1 if ready, else 0", status.is_ready());
  out.gauge("eckart_watch_degraded",
            "Watches that are paused, missing, or scanned because events are not available",
            double(state.degraded_watches));
  out.counter("eckart_watch_overflows_total", "Overflows of the inotify event queue",
              double(state.overflows));
  out.add("eckart_process_restarts_total", "Restarts of the process by itself",
          MetricType::Counter);
  out.counter(double(state.restarts), {{"cause", "gpu_lost"}});
  out.add("eckart_build_info", "1", MetricType::Gauge);
  out.gauge(1, {{"version", status.identity.version}, {"backend", status.all.backend}});
  out.counter("process_cpu_seconds_total", "User and system CPU time of all threads",
              machine::process_usage().cpu_s);
  out.gauge("process_resident_memory_bytes", "Memory",
            double(status.all.machine.process.rss_bytes));
  out.gauge("process_start_time_seconds", "Unix time when the process started",
            machine::process_start_unix_s());
}

void add_gpus(MetricFamilies& out, const RunStatus& status) {
  const auto each = [&](const char* name, const char* help, auto value) {
    out.add(name, help, MetricType::Gauge);
    for (const machine::GpuUsage& gpu : status.recent.machine.gpus)
      out.gauge(value(gpu), {{"gpu", gpu.uuid}});
  };
  each("eckart_gpu_healthy", "1 if all GPUs of the process respond, else 0",
       [&](const machine::GpuUsage&) { return status.state.are_gpus_healthy; });
  each("eckart_gpu_busy_ratio", "Fraction of time in which a kernel ran",
       [](const machine::GpuUsage& gpu) { return telemetry::busy_ratio(gpu); });
  each("eckart_gpu_memory_used_bytes", "Memory used on the device by all processes",
       [](const machine::GpuUsage& gpu) { return double(gpu.memory_used_bytes); });
  each("eckart_gpu_power_watts", "Power", [](const machine::GpuUsage& gpu) {
    return gpu.seconds > 0 ? gpu.energy_j / gpu.seconds : 0.0;
  });
  each("eckart_gpu_temperature_celsius", "Temperature",
       [](const machine::GpuUsage& gpu) { return gpu.temperature_c; });
  out.add("eckart_gpu_energy_joules_total", "Energy", MetricType::Counter);
  for (const machine::GpuUsage& gpu : status.all.machine.gpus)
    out.counter(gpu.energy_j, {{"gpu", gpu.uuid}});
  out.add("eckart_gpu_throttled", "1 while the clocks are throttled for this reason",
          MetricType::Gauge);
  for (const machine::GpuUsage& gpu : status.recent.machine.gpus) {
    for (int reason = 0; reason < machine::kThrottleReasonCount; ++reason)
      out.gauge(
          gpu.throttled_samples[std::size_t(reason)] > 0,
          {{"gpu", gpu.uuid}, {"reason", std::string(to_string(machine::ThrottleReason(reason)))}});
  }
  out.counter("eckart_gpu_oom_splits_total", "Batches split in two because GPU memory ran out",
              double(status.all.oom_splits));
  out.counter("eckart_cpu_fallback_images_total",
              "Images computed on the CPU because GPU memory ran out",
              double(status.all.cpu_fallback_images));
}

}  // namespace

std::string metrics_text(const RunStatus& status) {
  MetricFamilies out;
  add_images(out, status);
  add_stages(out, status.all.stages);
  add_queues(out, status.all, status.recent);
  add_service(out, status);
  add_watches(out, status.state.watches);
  if (status.state.queue) add_broker(out, *status.state.queue);
  add_gpus(out, status);
  return out.text();
}

}  // namespace eckart::status_server
