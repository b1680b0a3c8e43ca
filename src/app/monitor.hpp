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
#include "settings/settings.hpp"
#include "telemetry/nvml.hpp"
#include "telemetry/snapshot.hpp"
#include "telemetry/status.hpp"
#include "telemetry/status_server.hpp"
#include "telemetry/throughput.hpp"
#include "telemetry/throughput_log.hpp"

namespace eckart::app {

/// Looks at a pipeline and its machine each second, on a thread of its own, from begin() to
/// end(), writes the throughput log and answers on telemetry.listen.
class Monitor {
 public:
  /// What it looks at; called until end(), on any threads.
  struct Subject {
    std::function<telemetry::Snapshot()> pipeline;
    std::function<telemetry::ServiceState()> service;
  };
  Monitor(const settings::Settings& settings, const std::string& command, Subject subject);
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
  View view() const;
  /// Until now, but for what NVML has to tell.
  View view_now() const;

 private:
  void run();
  void look();
  /// Since this monitor was made.
  telemetry::ProcessUse process_use() const;
  void log_interval();
  void listen();
  void fail(const std::exception_ptr& error);
  telemetry::ServiceState state() const;
  telemetry::Status status() const;
  bool write(const std::string& line);

  const settings::Telemetry settings_;
  const telemetry::RunIdentity identity_;
  const Subject subject_;
  std::optional<telemetry::GpuMonitor>
      gpus_;  // once there is a backend, on the thread, as the next
  telemetry::Snapshot logged_;
  double log_tried_s_ = 0;
  std::optional<telemetry::ThroughputLog> log_;
  const double cpu_s_before_;  // of this process
  mutable std::mutex mutex_;
  telemetry::Snapshot now_;                 // the last look
  std::deque<telemetry::Snapshot> before_;  // some looks before it, the oldest first
  std::stop_source stop_;
  std::atomic<bool> has_failed_{false};
  telemetry::Snapshot sampled_;
  telemetry::History history_;
  telemetry::GpuIdentity gpu_identity_;
  std::optional<flow::Workers> thread_;
  std::optional<telemetry::StatusServer> server_;
};

/// As telemetry::snapshot_text has it.
std::string text_of(const Monitor::View& view);
/// Likewise, with what it is and what holds it up.
std::string status_text(const telemetry::Status& status);

}  // namespace eckart::app
