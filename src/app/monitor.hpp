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

/// Looks at a pipeline and its machine each second, on a thread of its own, from begin() to
/// end(), writes the throughput log and answers on telemetry.listen.
class Monitor {
 public:
  /// What it looks at; called until end(), on any threads.
  struct Providers {
    std::function<telemetry::Snapshot()> pipeline;
    std::function<status_server::ServiceState()> service;
  };
  Monitor(const settings::Settings& settings, const std::string& command, Providers subject);
  ~Monitor();
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;

  /// Where it cannot listen it throws FatalError or, if it need not, says so.
  void begin(bool must_listen);
  /// Looks for the last time, and ends the log. Any number of times.
  void end();

  /// Until the last look, from begin() on; what `recent` has came in some seconds before.
  struct View {
    telemetry::Snapshot all, recent;
  };
  View last_view() const;
  /// Until now, but for what NVML has to tell.
  View current_view() const;

 private:
  void run();
  void sample();
  /// Since this monitor was made.
  machine::ProcessUsage process_usage() const;
  void write_interval_line();
  void listen();
  void report_failure(const std::exception_ptr& error);
  status_server::ServiceState state() const;
  status_server::RunStatus status() const;
  bool write(const std::string& line);

  const settings::TelemetrySettings settings_;
  const reports::RunIdentity identity_;
  const Providers providers_;
  std::optional<machine::GpuMonitor>
      gpu_monitor_;  // once there is a backend, on the thread, as the next
  telemetry::Snapshot last_logged_;
  double last_log_attempt_s_ = 0;
  std::optional<reports::ThroughputLog> log_;
  const double cpu_s_before_;  // of this process
  mutable std::mutex mutex_;
  telemetry::Snapshot latest_;              // the last look
  std::deque<telemetry::Snapshot> recent_;  // some looks before it, the oldest first
  std::stop_source stop_;
  std::atomic<bool> has_failed_{false};
  telemetry::Snapshot last_in_history_;
  status_server::History history_;
  reports::GpuInventory gpu_identity_;
  std::optional<flow::Workers> thread_;
  std::optional<status_server::StatusServer> server_;
};

/// As reports::snapshot_text has it.
std::string view_text(const Monitor::View& last_view);
/// Likewise, with what it is and what holds it up.
std::string status_text(const status_server::RunStatus& status);

}  // namespace eckart::app
