#include "cli/service_health.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "app/gpu_health_probe.hpp"
#include "app/service_manager.hpp"
#include "compute/out_of_memory.hpp"
#include "core/error.hpp"
#include "flow/pause.hpp"

namespace eckart::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kMaintenanceInterval{1000}, kProbeInterval{30000};
constexpr seconds kProbeTimeout{120};  // as long as the unit's watchdog waits
constexpr seconds kMaxShutdown{30};

milliseconds heartbeat_interval() {
  const milliseconds interval = app::watchdog_interval();
  return interval.count() > 0 ? std::min(interval, kProbeInterval) : kProbeInterval;
}

}  // namespace

ServiceHealth::ServiceHealth(app::Service& service, seconds shutdown_timeout,
                             std::optional<ExitDeadline>& deadline)
    : service_(service),
      shutdown_timeout_(std::min(shutdown_timeout, kMaxShutdown)),
      deadline_(deadline),
      heartbeat_interval_(heartbeat_interval()),
      probe_thread_(
          "probe", 1, [this](int) { probe_gpus(); },
          [this](auto error) { service_.stop_with_error(error); }),
      maintenance_thread_(
          "folders", 1, [this](int) { maintain_folders(); },
          [this](auto error) { service_.stop_with_error(error); }),
      stall_detector_([this] { return service_.find_stall(); },
                      {[this](const Activity::Stall& stall) { on_stall(stall); },
                       {},
                       [this] { on_healthy(); }}) {}

ServiceHealth::~ServiceHealth() { stop_.request_stop(); }

/// No sign of life is given from here on.
void ServiceHealth::on_stall(const Activity::Stall& stall) {
  const std::string why = to_string(stall);
  if (deadline_) return;  // it ends already
  deadline_.emplace(shutdown_timeout_, ExitCode::temporary,
                    [] { spdlog::error("exiting now without the stalled thread"); });
  spdlog::error("{}: exiting with 75 to be restarted; no input is lost", why);
  app::notify_status("stalled: " + why);
  stall_recorder_.emplace(
      "recorder", 1, [this, stall](int) { service_.record_stall(stall); },
      [](const std::exception_ptr&) { spdlog::error("could not record the stalled file"); });
  service_.stop_with_error(std::make_exception_ptr(FatalError(ExitCode::temporary, why)));
}

void ServiceHealth::on_healthy() {
  app::notify_status(service_.status_line());
  const auto now = std::chrono::steady_clock::now();
  if (now < heartbeat_due_) return;
  app::notify_watchdog();
  heartbeat_due_ = now + heartbeat_interval_;
}

/// Only while no work moves, which shows as much.
void ServiceHealth::probe_gpus() {
  std::optional<app::GpuHealthProbe> probe;
  std::int64_t done_before = -1;
  do {
    const std::int64_t done = service_.progress().done;
    Backend* const backend = service_.backend();
    if (std::exchange(done_before, done) == done && backend) {
      try {
        const Activity::Scope step(service_.activity(), {"GPU health check", kProbeTimeout});
        if (!probe) probe.emplace(*backend);
        probe->run();
      } catch (const OutOfMemory&) {  // other work has it, and moves
        continue;
      }
    }
    if (backend) service_.record_heartbeat();
  } while (flow::pause(kProbeInterval, stop_.get_token()));
}

void ServiceHealth::maintain_folders() {
  const std::stop_token stop = stop_.get_token();
  do {
    service_.maintain_folders(stop);
  } while (flow::pause(kMaintenanceInterval, stop));
}

}  // namespace eckart::cli
