#include "app/supervisor.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "core/error.hpp"
#include "text/printable.hpp"

namespace eckart::app {
namespace {

using std::chrono::seconds;

constexpr seconds kMinReplaceTimeout{60};  // of one service by another
constexpr seconds kMaxStallShutdown{30};

void log_reload_failure(const std::exception& error) {
  spdlog::error("reload failed; the previous configuration is kept: {}",
                printable_message(error.what()));
}

/// Throws what of the machine has ended it.
void check_report(const telemetry::RunReport& report) {
  spdlog::info("stopped: {} done, {} failed", report.done, report.failed);
  if (!report.stopped_by.empty()) throw EnvironmentError(report.stopped_by);
}

}  // namespace

Supervisor::Supervisor(settings::Configuration configuration, Parts parts)
    : parts_(std::move(parts)),
      configuration_(std::move(configuration)),
      shutdown_s_(configuration_.settings.timeouts.shutdown_s) {}

void Supervisor::run() {
  // While the caller still limits a shutdown: one of the service's threads may hang.
  const std::shared_ptr<void> shutdown_guard(nullptr, [this](void*) {
    health_.reset();
    const std::unique_ptr<SupervisedService> last = take_service();
  });
  make_service();
  while (execute()) {
  }
}

/// Whether another service is there to go on with.
bool Supervisor::execute() {
  std::atomic<bool> ready = false;
  bool falls_back = false;
  try {
    const telemetry::RunReport report = service_->execute([&] {
      ready = true;
      parts_.manager.notify_ready();
      spdlog::info("ready: {} watch{}", service_->watches(), service_->watches() == 1 ? "" : "es");
    });
    check_report(report);
  } catch (const DeviceLostError&) {
    throw;
  } catch (const FatalError& error) {
    if (ready || !previous_) throw;
    log_reload_failure(error);
    const std::lock_guard lock(mutex_);
    configuration_ = *std::exchange(previous_, std::nullopt);
    falls_back = !next_;
    if (falls_back) next_ = configuration_;
  }
  health_.reset();
  const std::lock_guard lock(mutex_);
  if (stopped_) return false;
  if (!next_) return false;
  switch_configuration(std::move(*std::exchange(next_, std::nullopt)));
  if (falls_back) previous_.reset();  // there is nothing to fall back to from that
  return true;
}

void Supervisor::make_service() {
  const std::lock_guard lock(mutex_);
  replace_service(configuration_);
  if (status_requested_) print_status();
}

void Supervisor::replace_service(const settings::Configuration& configuration) {
  const seconds stall(configuration.settings.timeouts.stall_s);
  const ExitDeadline deadline(
      std::max(stall, kMinReplaceTimeout), ExitCode::temporary,
      [] {
        spdlog::error("the configured folders do not respond; exiting with 75 to be restarted");
      },
      parts_.exit_process);
  if (service_) last_done_unix_s_ = service_->last_done_unix_s();
  service_.reset();  // which gives its folders back
  service_ = parts_.make_service(configuration, last_done_unix_s_);
  shutdown_s_ = configuration.settings.timeouts.shutdown_s;
  health_.emplace(
      *service_, parts_.manager, [this](const std::string&) { start_exit_deadline(); },
      parts_.intervals);
  if (stopped_) service_->request_stop();
}

/// What was checked may be impossible by now.
void Supervisor::switch_configuration(settings::Configuration configuration) {
  try {
    replace_service(configuration);
    previous_ = std::exchange(configuration_, std::move(configuration));
  } catch (const std::exception& error) {
    log_reload_failure(error);
    previous_.reset();
    replace_service(configuration_);
  }
}

std::unique_ptr<SupervisedService> Supervisor::take_service() {
  const std::lock_guard lock(mutex_);
  return std::move(service_);
}

/// On a thread of the service's health. A service that has stalled may not end.
void Supervisor::start_exit_deadline() {
  stall_deadline_.emplace(
      std::min(shutdown_timeout(), kMaxStallShutdown), ExitCode::temporary,
      [] { spdlog::error("exiting now without the stalled thread"); }, parts_.exit_process);
}

std::string Supervisor::pending_work() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  return lock && service_ ? service_->describe_activity() : std::string();
}

void Supervisor::stop() {
  spdlog::warn("stopping: writing computed images for at most {} s; a second signal exits at once",
               int(shutdown_s_));
  parts_.manager.notify_stopping();
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  next_.reset();
  if (service_) service_->request_stop();
}

void Supervisor::request_status() {
  const std::lock_guard lock(mutex_);
  status_requested_ = true;
  if (service_) print_status();
}

void Supervisor::print_status() {
  status_requested_ = false;
  parts_.print_status(service_->status_text());
}

void Supervisor::reload() {
  parts_.manager.notify_reloading();
  try {
    settings::Configuration configuration = parts_.read_configuration();
    const std::lock_guard lock(mutex_);
    if (stopped_) return;
    if (!service_) {
      configuration_ = std::move(configuration);
      return;
    }
    next_ = std::move(configuration);
    service_->request_stop();
  } catch (const std::exception& error) {
    log_reload_failure(error);
    parts_.manager.notify_ready();
  }
}

}  // namespace eckart::app
