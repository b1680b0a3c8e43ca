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
#include "core/instant.hpp"
#include "flow/workers.hpp"

namespace eckart::app {

/// The intervals of the periodic tasks of ServiceHealth.
struct HealthIntervals {
  std::chrono::milliseconds stall_check{1000}, maintenance{1000}, gpu_probe{kGpuProbeInterval};
};

/// The background threads of a service. They send the heartbeat and the status to the service
/// manager, probe the GPUs, and maintain the folders. A stalled service is stopped with
/// ExitCode::temporary, so that it is started again.
class ServiceHealth {
 public:
  /// Called once if the service has stalled, before it is stopped; `message` is to_string() of the
  /// stall.
  using OnStall = std::function<void(const std::string& message)>;
  /// `service` and `manager` must outlive this object.
  ServiceHealth(SupervisedService& service, ServiceManager& manager, OnStall on_stall,
                HealthIntervals intervals = {});
  ~ServiceHealth();
  ServiceHealth(const ServiceHealth&) = delete;
  ServiceHealth& operator=(const ServiceHealth&) = delete;

 private:
  void handle_stall(const pipeline::Activity::Stall& stall);
  void handle_healthy();
  void probe_gpus();
  bool run_probe(std::optional<GpuHealthProbe>& probe, compute::Backend& backend);
  void maintain_folders();

  SupervisedService& service_;
  ServiceManager& manager_;
  const OnStall on_stall_;
  const HealthIntervals intervals_;
  const std::chrono::milliseconds watchdog_interval_;
  Instant watchdog_due_{};
  bool has_stalled_ = false;  // used by the thread of stall_detector_
  std::stop_source stop_;
  std::optional<flow::Workers> stall_recorder_;
  flow::Workers probe_thread_, maintenance_thread_;
  StallDetector stall_detector_;
};

}  // namespace eckart::app
