#include <algorithm>
#include <utility>

#include "machine/unix_time.hpp"
#include "reports/not_read_json.hpp"
#include "status_server/run_status.hpp"
#include "text/json.hpp"

namespace eckart::status_server {
namespace {

constexpr std::size_t kMaxHistorySamples = 600;

text::Json watches_json(const std::vector<WatchStatus>& watches) {
  text::Json json = text::Json::array();
  for (const WatchStatus& watch : watches) {
    json.push_back(
        {{"name", watch.name},
         {"input", watch.input},
         {"output", watch.output},
         {"state", to_string(watch.condition)},
         {"reason", watch.reason},
         {"done", watch.done},
         {"failed", watch.failed},
         {"skipped", watch.skipped},
         {"waiting", watch.waiting},
         {"unfinished", watch.unfinished},
         {"quarantine_files", watch.quarantine_files},
         {"quarantine_bytes", watch.quarantine_bytes},
         {"not_read", reports::not_read_json(watch.not_read)},
         {"free_bytes", watch.free_bytes ? text::Json(*watch.free_bytes) : text::Json()}});
  }
  return json;
}

text::Json recent_failures_json(const std::deque<telemetry::ImageFailure>& failures) {
  text::Json json = text::Json::array();
  for (const telemetry::ImageFailure& failure : failures) {
    json.push_back({{"time", machine::utc_timestamp(failure.unix_s)},
                    {"input", failure.file},
                    {"stage", to_string(failure.stage)},
                    {"reason", to_string(failure.reason)},
                    {"detail", failure.detail}});
  }
  return json;
}

text::Json history_json(const History& history, double since_unix_s) {
  text::Json time = text::Json::array(), rate = text::Json::array(), failed = text::Json::array(),
             cores = text::Json::array(), stages = text::Json::object(),
             queues = text::Json::object(), gpus = text::Json::array();
  for (const auto& [unix_s, difference] : history.samples()) {
    if (unix_s <= since_unix_s) continue;
    const auto per_second = [seconds = difference.seconds](std::int64_t count) {
      return seconds > 0 ? double(count) / seconds : 0.0;
    };
    time.push_back(unix_s);
    rate.push_back(per_second(difference.counts.done));
    failed.push_back(per_second(difference.counts.failed));
    cores.push_back(telemetry::busy_ratio(difference.machine, difference.seconds));
    for (const telemetry::StageStats& stage : difference.stages)
      stages[std::string(to_string(stage.stage))].push_back(telemetry::busy_ratio(stage));
    for (const telemetry::QueueStats& queue : difference.queues)
      queues[queue.name].push_back(double(queue.images) /
                                   double(std::max<std::int64_t>(1, queue.capacity)));
    for (std::size_t i = 0; i < difference.machine.gpus.size(); ++i) {
      const machine::GpuUsage& gpu = difference.machine.gpus[i];
      if (gpus.size() <= i)  // the history began without GPUs
        gpus.push_back({{"uuid", gpu.uuid},
                        {"busy", text::Json(time.size() - 1, text::Json())},
                        {"power_w", text::Json(time.size() - 1, text::Json())}});
      gpus[i]["busy"].push_back(telemetry::busy_ratio(gpu));
      gpus[i]["power_w"].push_back(gpu.seconds > 0 ? text::Json(gpu.energy_j / gpu.seconds)
                                                   : text::Json());
    }
  }
  return {{"time_s", time},      {"images_per_s", rate}, {"failed_per_s", failed},
          {"cores_busy", cores}, {"stages", stages},     {"queues", queues},
          {"gpus", gpus}};
}

}  // namespace

void History::add(double unix_s, const telemetry::Snapshot& difference) {
  telemetry::Snapshot reduced = difference;
  for (telemetry::StageStats& stage : reduced.stages) stage.service = {};
  for (telemetry::QueueStats& queue : reduced.queues) queue.wait = {};
  reduced.end_to_end = {};
  reduced.recent_failures.clear();
  reduced.not_read.clear();
  samples_.push_back({unix_s, std::move(reduced)});
  if (samples_.size() > kMaxHistorySamples) samples_.pop_front();
}

std::string status_json(const RunStatus& status, const History& history, double since_unix_s) {
  const text::Json json = {
      {"kind", "status_page"},
      {"now_s", machine::unix_now_s()},
      {"interval_s", 1},
      {"run", text::Json::parse(reports::run_line(status.identity, status.gpus, status.all))},
      {"ready", status.is_ready()},
      {"not_ready", status.state.not_ready_reasons},
      {"watches", watches_json(status.state.watches)},
      {"total", text::Json::parse(reports::total_line(status.identity, status.all))},
      {"last", text::Json::parse(reports::interval_line(status.identity, status.recent))},
      {"recent_failures", recent_failures_json(status.all.recent_failures)},
      {"history", history_json(history, since_unix_s)},
  };
  return text::dump_json(json);
}

}  // namespace eckart::status_server
