#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>

#include "app/service.hpp"
#include "app/stall_detector.hpp"
#include "cli/exit_deadline.hpp"
#include "flow/workers.hpp"

namespace eckart::cli {

/// What a service does besides its work, on threads of its own. It tells the service manager that
/// the service lives, and how it does; asks its GPUs a small question now and then; looks after its
/// folders. A service that has stalled is ended with ExitCode::temporary, to be started again.
class ServiceHealth {
 public:
  /// `deadline` is set when the service has stalled, for at most `shutdown_timeout` from then on;
  /// it must outlive the service, whose threads may hang.
  ServiceHealth(app::Service& service, std::chrono::seconds shutdown_timeout,
                std::optional<ExitDeadline>& deadline);
  ~ServiceHealth();
  ServiceHealth(const ServiceHealth&) = delete;
  ServiceHealth& operator=(const ServiceHealth&) = delete;

 private:
  void on_stall(const Activity::Stall& stall);
  void on_healthy();
  void probe_gpus();
  void maintain_folders();
  app::Service& service_;
  const std::chrono::seconds shutdown_timeout_;
  std::optional<ExitDeadline>& deadline_;
  const std::chrono::milliseconds heartbeat_interval_;  // of life, to the service manager
  std::chrono::steady_clock::time_point heartbeat_due_{};
  std::stop_source stop_;
  std::optional<flow::Workers> stall_recorder_;
  flow::Workers probe_thread_, maintenance_thread_;
  app::StallDetector stall_detector_;
};

}  // namespace eckart::cli
