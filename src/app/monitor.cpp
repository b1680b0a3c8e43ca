#include "app/monitor.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/error.hpp"
#include "flow/pause.hpp"
#include "hash/fnv1a.hpp"
#include "machine/unix_time.hpp"
#include "reports/snapshot_text.hpp"
#include "text/group_digits.hpp"
#include "text/printable.hpp"
#include "text/unread_files_text.hpp"

namespace eckart::app {
namespace {

using telemetry::Snapshot;

constexpr double kSamplePeriodS = 1;
constexpr double kMinHistoryPeriodS = 0.9 * kSamplePeriodS;  // between two entries
// The rate of a shorter period fluctuates too much.
constexpr std::size_t kRecentSnapshots = 5;

reports::RunIdentity identity_of(const settings::Settings& settings, const std::string& command) {
  reports::RunIdentity identity = reports::make_run_identity(command, ECKART_VERSION);
  identity.settings = settings::changed(settings);
  identity.configuration_hash = fmt::format("{:016x}", hash::fnv1a(settings::to_yaml(settings)));
  return identity;
}

/// The newest failures, the latest first.
std::string failure_lines(const telemetry::Snapshot& all) {
  constexpr std::size_t kMaxFailures = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(kMaxFailures, all.recent_failures.size()); ++i) {
    const telemetry::ImageFailure& failure = all.recent_failures[i];
    text += "failed     " + text::printable(failure.file) + ": " +
            std::string(to_string(failure.reason)) + '\n';
  }
  return text;
}

}  // namespace

Monitor::Monitor(const settings::Settings& settings, const std::string& command, Providers subject)
    : settings_(settings.telemetry),
      identity_(identity_of(settings, command)),
      providers_(std::move(subject)),
      cpu_s_before_(machine::process_usage().cpu_s),
      idle_core_s_before_(machine::idle_core_s()) {}

void Monitor::begin(bool must_listen) {
  if (thread_) return;
  sample();  // so that the first requests already see every stage
  try {
    if (!settings_.listen.empty()) listen();
  } catch (const FatalError& error) {
    if (must_listen) throw;
    spdlog::warn("status page disabled: {}", text::printable_message(error.what()));
  }
  thread_.emplace(
      "monitor", 1, [this](int) { run(); }, [this](auto error) { report_failure(error); });
}

Monitor::~Monitor() { end(); }

void Monitor::run() {
  const std::stop_token stop = stop_.get_token();
  const auto period =
      std::chrono::milliseconds(int(1000 * std::min(kSamplePeriodS, settings_.interval_s)));
  while (flow::pause(period, stop)) {
    sample();
    const bool due = latest_.elapsed_s - last_log_attempt_s_ >= settings_.interval_s;
    if (due && latest_.startup_s) write_interval_line();
  }
}

/// All values that are shown after this failure are outdated.
void Monitor::report_failure(const std::exception_ptr& error) {
  has_failed_ = true;
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& failure) {
    spdlog::error("monitoring stopped: {}", text::printable_message(failure.what()));
  } catch (...) {
    spdlog::error("monitoring stopped");
  }
}

void Monitor::end() {
  server_.reset();
  if (!thread_) return;
  stop_.request_stop();
  thread_.reset();
  try {
    sample();
    write_interval_line();
    write(total_line(identity_, latest_));
  } catch (...) {
    report_failure(std::current_exception());
  }
}

void Monitor::sample() {
  // Before the snapshot, which has every image that a watch has counted.
  std::vector<status_server::WatchStatus> watches = providers_.service().watches;
  Snapshot snapshot = providers_.pipeline();
  reports::GpuInventory found;
  if (!snapshot.gpu_ids.empty() && !gpu_monitor_) {
    gpu_monitor_.emplace(snapshot.gpu_ids);
    found = {gpu_monitor_->driver(), gpu_monitor_->read_gpu_infos()};
  }
  if (gpu_monitor_) gpu_monitor_->sample(snapshot.elapsed_s - latest_.elapsed_s);
  snapshot.machine = {
      .cores = identity_.machine.cores,
      .idle_core_s = machine::idle_core_s() - idle_core_s_before_,
      .process = process_usage(),
      .gpus = gpu_monitor_ ? gpu_monitor_->usages() : std::vector<machine::GpuUsage>{}};
  const std::lock_guard lock(mutex_);
  recent_.push_back(std::exchange(latest_, std::move(snapshot)));
  watches_ = std::move(watches);
  if (recent_.size() > kRecentSnapshots) recent_.pop_front();
  if (!found.driver.empty()) gpu_identity_ = std::move(found);
  if (latest_.elapsed_s - last_in_history_.elapsed_s < kMinHistoryPeriodS) return;
  history_.add(machine::unix_now_s(), latest_.since(last_in_history_));
  last_in_history_ = latest_;
}

machine::ProcessUsage Monitor::process_usage() const {
  machine::ProcessUsage usage = machine::process_usage();
  usage.cpu_s -= cpu_s_before_;
  return usage;
}

void Monitor::listen() {
  const auto join_lines = [](const std::vector<std::string>& all) {
    std::string text;
    for (const std::string& line : all) text += (text.empty() ? "" : "\n") + line;
    return text;
  };
  server_.emplace(
      settings_.listen,
      status_server::StatusHandlers{
          .json =
              [this](double since_unix_s) {
                const status_server::RunStatus now = status();
                const std::lock_guard lock(mutex_);
                return status_json(now, history_, since_unix_s);
              },
          .metrics = [this] { return metrics_text(status()); },
          .text = [this] { return status_text(status()); },
          .readiness_error = [this, join_lines] { return join_lines(state().not_ready_reasons); },
          .health_error = [this, join_lines] { return join_lines(state().unhealthy_reasons); }});
  spdlog::info("status page and metrics: {}", settings_.listen.starts_with('/')
                                                  ? settings_.listen
                                                  : "http://" + settings_.listen + "/");
}

status_server::ServiceState Monitor::state() const {
  status_server::ServiceState state = providers_.service();
  if (has_failed_) state.unhealthy_reasons.emplace_back("monitoring stopped: the log says why");
  return state;
}

status_server::RunStatus Monitor::status() const {
  status_server::ServiceState service_state = state();
  const std::lock_guard lock(mutex_);  // sample() changes the watches and the snapshot together
  service_state.watches = watches_;
  return {identity_, gpu_identity_, latest_, recent_snapshot(), std::move(service_state)};
}

status_server::RunStatus Monitor::current_status() const {
  status_server::ServiceState service_state = state();  // first, as in sample()
  const View now = current_view();
  const std::lock_guard lock(mutex_);
  return {identity_, gpu_identity_, now.all, now.recent, std::move(service_state)};
}

/// If a line could not be written, the next line covers its interval too.
void Monitor::write_interval_line() {
  if (settings_.throughput_log.empty()) return;
  last_log_attempt_s_ = latest_.elapsed_s;
  if (write(interval_line(identity_, latest_.since(last_logged_)))) last_logged_ = latest_;
}

/// The first write makes the log. The data of the first line are known once there is a backend, or
/// at the end.
bool Monitor::write(const std::string& line) {
  if (settings_.throughput_log.empty()) return true;
  if (!log_)
    log_.emplace(settings_.throughput_log,
                 reports::LogRotation{std::int64_t(settings_.max_mb) << 20, settings_.keep},
                 run_line(identity_, gpu_identity_, latest_));
  return log_->write(line);
}

std::string watch_line(const status_server::WatchStatus& watch) {
  std::string line = watch.name + ": " + to_string(watch.condition) + ", " +
                     text::group_digits(watch.done) + " done, " + text::group_digits(watch.failed) +
                     " failed, " + text::group_digits(watch.unfinished) + " unfinished, " +
                     text::group_digits(watch.quarantine_files) + " in quarantine";
  if (!watch.not_read.empty()) line += ", " + text::unread_files_text(watch.not_read);
  return line + "; " + text::printable(watch.input);
}

std::string status_text(const status_server::RunStatus& status) {
  const reports::RunIdentity& identity = status.identity;
  std::string text = "eckart    " + identity.command + ", version " + identity.version + ", on " +
                     text::printable(identity.machine.host);
  if (!status.all.backend.empty())
    text += ", " + status.all.backend + ": " + text::printable(status.all.device);
  text += '\n';
  for (const std::string& reason : status.state.not_ready_reasons)
    text += "NOT READY " + reason + '\n';
  Snapshot all = status.all;
  for (const status_server::WatchStatus& watch : status.state.watches) {
    text += "watch     " + watch_line(watch) + '\n';
    all.unfinished += watch.waiting;  // not in the pipeline yet
  }
  return text + reports::snapshot_text(all, status.recent) + failure_lines(status.all);
}

Monitor::View Monitor::current_view() const {
  Snapshot all = providers_.pipeline();
  const machine::ProcessUsage process = process_usage();
  const std::lock_guard lock(mutex_);
  all.machine = latest_.machine;
  all.machine.process = process;
  return {all, recent_.empty() ? all : all.since(recent_.front())};
}

Monitor::View Monitor::last_view() const {
  const std::lock_guard lock(mutex_);
  return {latest_, recent_snapshot()};
}

telemetry::Snapshot Monitor::recent_snapshot() const {
  return recent_.empty() ? latest_ : latest_.since(recent_.front());
}

}  // namespace eckart::app
