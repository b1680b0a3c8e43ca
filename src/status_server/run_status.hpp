#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "reports/throughput_lines.hpp"
#include "status_server/watch_status.hpp"
#include "telemetry/snapshot.hpp"

namespace eckart::status_server {

/// The queue of a worker.
struct QueueState {
  std::string name;
  bool is_connected = false;  ///< to the broker
  // At the last question, or 0:
  std::int64_t waiting = 0, dead_letters = 0;   ///< messages of all workers
  std::int64_t in_flight = 0;                   ///< messages that this worker has taken
  std::int64_t acknowledged = 0, rejected = 0;  ///< messages by this worker so far
  std::int64_t reconnects = 0;                  ///< so far
};

/// The state of a run or service, besides that of its pipeline.
struct ServiceState {
  std::vector<std::string> not_ready_reasons;  ///< sentences; empty if ready
  std::vector<std::string> unhealthy_reasons;  ///< sentences; empty if healthy
  bool are_gpus_healthy = true;                ///< false if GPUs do not respond
  std::vector<WatchStatus> watches;
  std::optional<QueueState> queue;
  double last_done_unix_s = 0;  ///< of earlier services of this process, which reloads ended
  double oldest_waiting_unix_s =
      0;                       ///< when the oldest waiting file of all watches arrived; 0: none
  std::int64_t overflows = 0;  ///< of the event queues of inotify
  std::int64_t degraded_watches =
      0;                      ///< paused, missing, or scanned because events are not available
  std::int64_t restarts = 0;  ///< earlier processes that lost their GPU
};

/// Snapshots of the last minutes, one per second.
class History {
 public:
  void add(double unix_s, const telemetry::Snapshot& difference);
  struct Sample {
    double unix_s;
    telemetry::Snapshot difference;  ///< to the sample before
  };
  const std::deque<Sample>& samples() const { return samples_; }

 private:
  std::deque<Sample> samples_;
};

/// The data of the status page and of a scrape, at one time.
struct RunStatus {
  reports::RunIdentity identity;
  reports::GpuInventory gpus;
  telemetry::Snapshot all, recent;  ///< since the start, and of the last interval
  ServiceState state;

  bool is_ready() const { return state.not_ready_reasons.empty(); }
};

/// The text of status.json (docs/reference/status-page.md), with the history after `since_unix_s`.
std::string status_json(const RunStatus& status, const History& history, double since_unix_s);

/// The metrics of docs/reference/metrics.md in the text format of Prometheus.
std::string metrics_text(const RunStatus& status);

}  // namespace eckart::status_server
