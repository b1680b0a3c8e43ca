#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "flow/workers.hpp"
#include "settings/settings.hpp"
#include "telemetry/nvml.hpp"
#include "telemetry/snapshot.hpp"
#include "telemetry/throughput.hpp"
#include "telemetry/throughput_log.hpp"

namespace eckart::app {

/// Looks at a pipeline and its machine each second, on a thread of its own, from begin() to
/// end(), and writes the throughput log.
class Monitor {
 public:
  /// `look`: the pipeline's snapshot(), which may be called until end().
  Monitor(const settings::Settings& settings, const std::string& command,
          std::function<telemetry::Snapshot()> look);
  ~Monitor();
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;

  void begin();
  /// Looks for the last time, and ends the log. Any number of times.
  void end();

  /// Until the last look, from begin() on; what `recent` has came in some seconds before.
  struct View {
    telemetry::Snapshot all, recent;
  };
  View view() const;

 private:
  void run();
  void look();
  void log_interval();
  void write(const std::string& line);

  const settings::Telemetry settings_;
  const telemetry::RunIdentity identity_;
  const std::function<telemetry::Snapshot()> look_;
  std::optional<telemetry::GpuMonitor>
      gpus_;  // once there is a backend, on the thread, as the next
  telemetry::Snapshot logged_;
  std::optional<telemetry::ThroughputLog> log_;
  const double cpu_s_before_;  // of this process
  mutable std::mutex mutex_;
  telemetry::Snapshot now_;                  // the last look
  std::vector<telemetry::Snapshot> before_;  // some looks before it, the oldest first
  std::stop_source stop_;
  std::optional<flow::Workers> thread_;
};

/// As telemetry::snapshot_text has it.
std::string text_of(const Monitor::View& view);

}  // namespace eckart::app
