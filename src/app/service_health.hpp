#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "app/gpu_health_probe.hpp"
#include "app/service_manager.hpp"
#include "app/stall_detector.hpp"
#include "app/supervised_service.hpp"
#include "flow/workers.hpp"

namespace eckart::app {

/// How often a ServiceHealth does what it does.
struct HealthIntervals {
  std::chrono::milliseconds stall_check{1000}, maintenance{1000}, gpu_probe{kGpuProbeInterval};
};

/// What a service does besides its work, on threads of its own. It tells the service manager that
/// the service lives, and how it does; probes its GPUs; looks after its
/// folders. A service that has stalled is ended with ExitCode::temporary, to be started again.
class ServiceHealth {
 public:
  /// Called once, when the service has stalled, before it is told to stop; `why` is for people.
  using OnStall = std::function<void(const std::string& why)>;
  /// All of these must outlive it.
  ServiceHealth(SupervisedService& service, ServiceManager& manager, OnStall on_stall,
                HealthIntervals intervals = {});
  ~ServiceHealth();
  ServiceHealth(const ServiceHealth&) = delete;
  ServiceHealth& operator=(const ServiceHealth&) = delete;

 private:
  void handle_stall(const Activity::Stall& stall);
  void handle_healthy();
  void probe_gpus();
  bool run_probe(std::optional<GpuHealthProbe>& probe, Backend& backend);
  void maintain_folders();

  SupervisedService& service_;
  ServiceManager& manager_;
  const OnStall on_stall_;
  const HealthIntervals intervals_;
  const std::chrono::milliseconds watchdog_interval_;
  std::chrono::steady_clock::time_point watchdog_due_{};
  bool has_stalled_ = false;  // on the thread of stall_detector_
  std::stop_source stop_;
  std::optional<flow::Workers> stall_recorder_;
  flow::Workers probe_thread_, maintenance_thread_;
  StallDetector stall_detector_;
};

}  // namespace eckart::app
