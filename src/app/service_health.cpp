#include "app/service_health.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <utility>

#include "compute/out_of_memory.hpp"
#include "core/error.hpp"
#include "flow/pause.hpp"

namespace eckart::app {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kMaxWatchdogInterval{30000};

milliseconds limited_watchdog_interval(const ServiceManager& manager) {
  const milliseconds interval = manager.watchdog_interval();
  return interval.count() > 0 ? std::min(interval, kMaxWatchdogInterval) : kMaxWatchdogInterval;
}

}  // namespace

ServiceHealth::ServiceHealth(SupervisedService& service, ServiceManager& manager, OnStall on_stall,
                             HealthIntervals intervals)
    : service_(service),
      manager_(manager),
      on_stall_(std::move(on_stall)),
      intervals_(intervals),
      watchdog_interval_(limited_watchdog_interval(manager)),
      probe_thread_(
          "probe", 1, [this](int) { probe_gpus(); },
          [this](auto error) { service_.stop_with_error(error); }),
      maintenance_thread_(
          "folders", 1, [this](int) { maintain_folders(); },
          [this](auto error) { service_.stop_with_error(error); }),
      stall_detector_([this] { return service_.find_stall(); },
                      {[this](const pipeline::Activity::Stall& stall) { handle_stall(stall); },
                       {},
                       [this] { handle_healthy(); }},
                      intervals.stall_check) {}

ServiceHealth::~ServiceHealth() { stop_.request_stop(); }

void ServiceHealth::handle_stall(const pipeline::Activity::Stall& stall) {
  const std::string message = to_string(stall);
  if (std::exchange(has_stalled_, true)) return;  // the service is already ending
  on_stall_(message);
  spdlog::error("{}: exiting with 75 to be restarted; no input is lost", message);
  manager_.notify_status("stalled: " + message);
  stall_recorder_.emplace(
      "recorder", 1, [this, stall](int) { service_.record_stall(stall); },
      [](const std::exception_ptr&) { spdlog::error("could not record the stalled file"); });
  service_.stop_with_error(std::make_exception_ptr(FatalError(ExitCode::temporary, message)));
}

void ServiceHealth::handle_healthy() {
  if (has_stalled_) return;
  manager_.notify_status(service_.status_line());
  const auto now = Clock::now();
  if (now < watchdog_due_) return;
  manager_.notify_watchdog();
  watchdog_due_ = now + watchdog_interval_;
}

void ServiceHealth::probe_gpus() {
  std::optional<GpuHealthProbe> probe;
  std::int64_t gpu_images_before = 0;
  do {
    compute::Backend* const backend = service_.backend();
    if (!backend) continue;
    const bool responds = run_probe(probe, *backend);
    const std::int64_t gpu_images = backend->fallback_counts().gpu_images;
    const bool has_computed = std::exchange(gpu_images_before, gpu_images) < gpu_images;
    if (responds || has_computed) service_.record_heartbeat();
  } while (flow::pause(intervals_.gpu_probe, stop_.get_token()));
}

/// Returns whether every GPU responded; false if a GPU has too little free memory for the probe.
bool ServiceHealth::run_probe(std::optional<GpuHealthProbe>& probe, compute::Backend& backend) {
  try {
    const pipeline::Activity::Scope step(
        service_.activity(),
        {.stage = "GPU health check", .max_duration = kGpuProbeTimeout, .is_image_work = false});
    if (!probe) probe.emplace(backend);
    probe->run();
    return true;
  } catch (const compute::OutOfMemory&) {
    return false;
  }
}

void ServiceHealth::maintain_folders() {
  const std::stop_token stop = stop_.get_token();
  do {
    service_.maintain_folders(stop);
  } while (flow::pause(intervals_.maintenance, stop));
}

}  // namespace eckart::app
