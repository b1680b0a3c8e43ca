#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "reports/throughput_lines.hpp"
#include "telemetry/snapshot.hpp"

namespace eckart::status_server {

/// One watched folder of a service.
struct WatchStatus {
  std::string input, output;
  std::int64_t waiting = 0;  ///< files
  std::string state;         ///< why it is held back; empty if it is not
};

/// What a run or service knows besides its pipeline.
struct ServiceState {
  std::vector<std::string> not_ready_reasons;  ///< why it cannot work, in words; empty: it is ready
  std::vector<std::string> unhealthy_reasons;  ///< why it should be started again; empty: it lives
  bool gpus_healthy = true;                    ///< all of them, as far as is known
  std::vector<WatchStatus> watches;
  double last_done_unix_s = 0;       ///< of the services before this one, which a reload has ended
  double oldest_waiting_unix_s = 0;  ///< when the oldest file that waits in a watch came; 0: none
  std::int64_t overflows = 0;        ///< of the kernel's queues of events
  std::int64_t degraded_watches =
      0;                      ///< watches that are held back, missing or scanned for want of events
  std::int64_t restarts = 0;  ///< processes before this one that have lost their GPU
};

/// What was, a second or so at a time, for some minutes.
class History {
 public:
  void add(double unix_s, const telemetry::Snapshot& second);
  struct HistorySample {
    double unix_s;
    telemetry::Snapshot second;
  };
  const std::deque<HistorySample>& samples() const { return samples_; }

 private:
  std::deque<HistorySample> samples_;
};

/// All that a status page or a scrape may ask for, at one time.
struct RunStatus {
  reports::RunIdentity identity;
  reports::GpuInventory gpus;
  telemetry::Snapshot all, recent;
  ServiceState state;

  bool is_ready() const { return state.not_ready_reasons.empty(); }
};

/// status.json, as docs/reference/status-page.md has it; of the history what came after that time.
std::string status_json(const RunStatus& status, const History& history, double since_unix_s);

/// Prometheus' text format; the metrics of docs/reference/metrics.md.
std::string metrics_text(const RunStatus& status);

}  // namespace eckart::status_server
