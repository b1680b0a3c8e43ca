#pragma once

#include <atomic>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "flow/workers.hpp"
#include "machine/gpu_monitor.hpp"
#include "reports/throughput_lines.hpp"
#include "reports/throughput_log.hpp"
#include "settings/settings.hpp"
#include "status_server/run_status.hpp"
#include "status_server/status_server.hpp"
#include "telemetry/snapshot.hpp"

namespace eckart::app {

/// Takes a snapshot of a pipeline and its machine every second, on its own thread, from begin() to
/// end(). Writes the throughput log and answers HTTP requests on telemetry.listen.
class Monitor {
 public:
  /// Sources of the data; called until end(), on any thread.
  struct Providers {
    std::function<telemetry::Snapshot()> pipeline;
    std::function<status_server::ServiceState()> service;
  };
  Monitor(const settings::Settings& settings, const std::string& command, Providers subject);
  ~Monitor();
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;

  /// If it cannot listen, it throws FatalError if `must_listen` is true, and otherwise logs a
  /// warning. Does nothing if it has begun.
  void begin(bool must_listen);
  /// Takes the last snapshot and closes the log. May be called more than once.
  void end();

  /// The data from begin() until the last snapshot; `recent` covers the last few seconds of it.
  struct View {
    telemetry::Snapshot all, recent;
  };
  View last_view() const;
  /// The data until now, except those of NVML, which are of the last snapshot.
  View current_view() const;
  /// The status with current_view().
  status_server::RunStatus current_status() const;

 private:
  void run();
  void sample();
  /// Usage since this monitor was made.
  machine::ProcessUsage process_usage() const;
  void write_interval_line();
  void listen();
  void report_failure(const std::exception_ptr& error);
  status_server::ServiceState state() const;
  status_server::RunStatus status() const;
  /// The last few seconds until the last snapshot. The caller holds mutex_.
  telemetry::Snapshot recent_snapshot() const;
  bool write(const std::string& line);

  const settings::TelemetrySettings settings_;
  const reports::RunIdentity identity_;
  const Providers providers_;
  // Used by the monitor thread, which makes gpu_monitor_ once there is a backend:
  std::optional<machine::GpuMonitor> gpu_monitor_;
  telemetry::Snapshot last_logged_;
  double last_log_attempt_s_ = 0;
  std::optional<reports::ThroughputLog> log_;
  const double cpu_s_before_;        // CPU time of this process
  const double idle_core_s_before_;  // of the machine
  mutable std::mutex mutex_;
  telemetry::Snapshot latest_;                       // the last snapshot
  std::vector<status_server::WatchStatus> watches_;  // at that time, so that their sum is the total
  std::deque<telemetry::Snapshot> recent_;           // previous snapshots, the oldest first
  std::stop_source stop_;
  std::atomic<bool> has_failed_{false};
  telemetry::Snapshot last_in_history_;
  status_server::History history_;
  reports::GpuInventory gpu_identity_;
  std::optional<flow::Workers> thread_;
  std::optional<status_server::StatusServer> server_;
};

/// Formats the status of a watch on one line, for eckart top.
std::string watch_line(const status_server::WatchStatus& watch);
/// Formats a status: the view, the identity of the run, its watches, and the reasons why it is not
/// ready.
std::string status_text(const status_server::RunStatus& status);

}  // namespace eckart::app
