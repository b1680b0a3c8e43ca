#include "app/supervisor.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <utility>

#include "app/log_stop.hpp"
#include "core/error.hpp"
#include "text/printable.hpp"

namespace eckart::app {
namespace {

using std::chrono::seconds;

constexpr seconds kMaxStallShutdown{30};

void log_reload_failure(const std::exception& error) {
  spdlog::error("reload failed; the previous configuration is kept: {}",
                text::printable_message(error.what()));
}

/// Throws EnvironmentError if the machine, not a file, ended the service.
void check_report(const telemetry::RunReport& report, bool is_reload) {
  spdlog::info("{}: {} done, {} failed", is_reload ? "reloading" : "stopped", report.done,
               report.failed);
  if (!report.stopped_by.empty()) throw EnvironmentError(report.stopped_by);
}

}  // namespace

Supervisor::Supervisor(settings::Configuration configuration, Parts parts)
    : parts_(std::move(parts)),
      shutdown_s_(configuration.settings.timeouts.shutdown_s),
      configuration_(std::move(configuration)) {}

void Supervisor::run() {
  // End the service here, while the caller still limits the time of a shutdown: a thread of the
  // service may hang.
  const std::shared_ptr<void> shutdown_guard(nullptr, [this](void*) { end_service(); });
  if (auto reloaded = take_next()) configuration_ = std::move(*reloaded);
  start_service(configuration_);
  while (execute()) {
  }
}

/// Returns whether another service was started.
bool Supervisor::execute() {
  const std::optional<FatalError> failure = execute_service();
  health_.reset();
  if (stall_) throw FatalError(ExitCode::temporary, *stall_);
  if (failure) {
    log_reload_failure(*failure);
    configuration_ = *std::exchange(previous_, std::nullopt);
  }
  std::optional<settings::Configuration> next = take_next();
  if (is_stopped()) return false;
  if (next) return switch_configuration(std::move(*next));
  if (failure) start_service(configuration_);
  return failure.has_value();
}

/// Returns the error of a service that failed before it was ready, if there is a previous
/// configuration. Throws other errors.
std::optional<FatalError> Supervisor::execute_service() {
  try {
    const telemetry::RunReport report = service_->execute([this] {
      is_ready_ = true;
      parts_.manager.notify_ready();
      spdlog::info("ready: {}", service_->inputs_text());
    });
    check_report(report, has_next());
    return std::nullopt;
  } catch (const DeviceLostError&) {
    throw;
  } catch (const FatalError& error) {
    if (is_ready_ || !previous_) throw;
    return error;
  }
}

/// Ends and makes services without holding the mutex, because their folders may not respond and
/// stop() needs the mutex.
void Supervisor::start_service(const settings::Configuration& configuration) {
  const seconds stall(configuration.settings.timeouts.stall_s);
  const auto timeout = std::max<std::chrono::milliseconds>(stall, parts_.min_start_timeout);
  std::atomic<const char*> step = "ending the previous service";
  const ExitDeadline deadline(
      timeout, ExitCode::temporary,
      [&step, timeout] {
        spdlog::error(
            "{} has taken {:g} s; exiting with 75 to be restarted. Check that the disks and shares "
            "of the configured folders respond",
            step.load(), std::chrono::duration<double>(timeout).count());
      },
      parts_.exit_process);
  end_service();  // this releases the locks of its folders
  step = "starting the watches";
  std::unique_ptr<SupervisedService> service =
      parts_.make_service(configuration, last_done_unix_s_);
  shutdown_s_ = configuration.settings.timeouts.shutdown_s;
  health_.emplace(
      *service, parts_.manager,
      [this](const std::string& message) { start_exit_deadline(message); }, parts_.intervals);
  const std::lock_guard lock(mutex_);
  service_ = std::move(service);
  if (status_requested_) print_status();
  if (stopped_ || next_) service_->request_stop();
}

void Supervisor::end_service() {
  health_.reset();
  is_ready_ = false;
  std::unique_ptr<SupervisedService> last;
  {
    const std::lock_guard lock(mutex_);
    last = std::move(service_);
  }
  if (last) last_done_unix_s_ = last->last_done_unix_s();
}

/// A checked configuration may still fail, because the folders may have changed. Returns whether
/// another service was started.
bool Supervisor::switch_configuration(settings::Configuration configuration) {
  try {
    start_service(configuration);
    previous_ = std::exchange(configuration_, std::move(configuration));
  } catch (const std::exception& error) {
    log_reload_failure(error);
    previous_.reset();
    if (is_stopped()) return false;
    start_service(configuration_);
  }
  return true;
}

std::optional<settings::Configuration> Supervisor::take_next() {
  const std::lock_guard lock(mutex_);
  return std::exchange(next_, std::nullopt);
}

bool Supervisor::has_next() {
  const std::lock_guard lock(mutex_);
  return next_.has_value();
}

bool Supervisor::is_stopped() {
  const std::lock_guard lock(mutex_);
  return stopped_;
}

/// Runs on a thread of ServiceHealth. A stalled service may never end, so the process exits at once
/// if the deadline cannot be started.
void Supervisor::start_exit_deadline(const std::string& message) {
  stall_ = message;
  try {
    stall_deadline_.emplace(
        std::min(shutdown_timeout(), kMaxStallShutdown), ExitCode::temporary,
        [] { spdlog::error("exiting now without the stalled thread"); }, parts_.exit_process);
  } catch (const std::exception& error) {
    spdlog::error("{}: exiting now, because no thread can be started: {}", message,
                  text::printable_message(error.what()));
    parts_.exit_process(ExitCode::temporary);
  }
}

std::string Supervisor::pending_work() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  return lock && service_ ? service_->describe_activity() : std::string();
}

void Supervisor::stop() {
  log_stop(shutdown_timeout());
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
    next_ = std::move(configuration);
    if (service_) service_->request_stop();
  } catch (const std::exception& error) {
    log_reload_failure(error);
    if (is_ready_) parts_.manager.notify_ready();
  }
}

}  // namespace eckart::app
